/*
 * YAML as a tree, for files that people write: every value carries its position.
 *
 * The parser is strict: one document, no duplicate keys, no tags, UTF-8 without control characters,
 * and limits on size, depth and number of values.  Anchors, aliases and merge keys (<<) are
 * supported.  Aliases are expanded to copies, which count against the limits, so a small text
 * cannot become a large tree.  Scalars stay text; the code that knows the field interprets "no" or
 * "0644".
 */
#pragma once

#include <jansson.h>

#include "base/error.h"

/* The largest text that yaml_read() accepts; callers need not read more of a file. */
#define YAML_TEXT_LIMIT (1 << 20)

enum yaml_type {
	YAML_NOTHING, /* no value, ~ or null */
	YAML_WORD,
	YAML_LIST,
	YAML_MAP,
};

/* A position in a text; both numbers count from 1. */
struct yaml_place {
	unsigned line;
	unsigned column;
};

struct yaml_value {
	enum yaml_type type;
	struct yaml_place place;
	char *key; /* if it is in a map */
	struct yaml_place key_place;
	char *text;  /* of a word */
	bool quoted; /* the word is a string even if it looks like a number */
	struct yaml_value *items;
	size_t count;
};

#define YAML_VALUE_INIT ((struct yaml_value){ YAML_NOTHING })

/* Loop over the items of the list or map VALUE with the `const struct yaml_value
 * *` variable ITEM. */
#define yaml_for_each(item, value) \
	for (item = (value)->items; item && item < (value)->items + (value)->count; item++)

/*
 * Parse TEXT, the contents of the file NAME.  On errors, returns -EBADMSG, and ERR begins with
 * "NAME:LINE:COLUMN: ".  An empty text is YAML_NOTHING.
 */
int yaml_read(const char *name, const char *text, size_t len, struct yaml_value *ret,
	      struct error *err);

/* The value of KEY in MAP; NULL if it is missing or YAML_NOTHING. */
const struct yaml_value *yaml_get(const struct yaml_value *map, const char *key);

/* Set ERR to "NAME:LINE:COLUMN: " and the formatted text, and return -EBADMSG. */
int yaml_wrong(struct error *err, const char *name, struct yaml_place place, const char *fmt, ...)
	printf_like(4, 5);

/* The type of VALUE for messages: "a list". */
const char *yaml_type_words(const struct yaml_value *value);

/* VALUE as JSON, which the caller releases.  Words that are not quoted become numbers or booleans
 * if they look like one. */
json_t *yaml_to_json(const struct yaml_value *value) must_check;

/* VALUE as YAML that yaml_read() parses to the same value; the caller frees the text. */
char *yaml_print(const json_t *value) must_check;

void yaml_value_release(struct yaml_value *value);
