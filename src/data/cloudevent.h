/* CloudEvents 1.0 in JSON, one object per line: how we tell programs what happens. */
#pragma once

#include <jansson.h>

#include "base/macro.h"

/* A random UUID (version 4), for the caller to free. */
char *cloudevent_new_id(void) must_check;

/*
 * The line, ended by a newline and for the caller to free, of the event TYPE ("io.manykube.step")
 * with the identity ID (NULL: a new one).  DATA is taken over.
 */
char *cloudevent_print(const char *type, const char *id, json_t *data) must_check;
