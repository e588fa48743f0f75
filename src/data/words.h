/* Lists of strings in JSON. */
#pragma once

#include <jansson.h>

#include "base/strlist.h"

/* WORDS as a JSON array, which the caller releases. */
json_t *words_to_json(const struct strlist *words) must_check;
