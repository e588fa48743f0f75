/* Reading JSON text that people may have edited. */
#pragma once

#include <jansson.h>
#include <stddef.h>

#include "base/error.h"

/* Parse LEN bytes of TEXT, one JSON value without duplicate keys; -EBADMSG with line and column. */
int json_text_parse(const char *text, size_t len, json_t **ret, struct error *err);
