/* CloudEvents 1.0 in JSON, one object per line: the machine-readable report of what happens. */
#pragma once

#include <jansson.h>

#include "base/macro.h"

/* A random UUID (version 4); the caller frees it. */
char *cloudevent_new_id(void) must_check;

/*
 * Format an event of TYPE ("io.manykube.step") with the given ID (NULL: a new one) as one line that
 * ends in a newline.  Takes ownership of DATA.  The caller frees the line.
 */
char *cloudevent_print(const char *type, const char *id, json_t *data) must_check;
