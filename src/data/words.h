/* Lists of words in JSON. */
#pragma once

#include <jansson.h>

#include "base/strlist.h"

/* An array of WORDS, for the caller to release. */
json_t *words_to_json(const struct strlist *words) must_check;
