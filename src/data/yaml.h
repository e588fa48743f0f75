/*
 * YAML as a tree, for files that people write: every value knows where it stands.
 *
 * What is read is strict: one document, no key twice, no tags, UTF-8 without control characters,
 * and limits on everything.  Anchors, aliases and merge keys (<<) are understood; what they stand
 * for is copied, and the copies count against the limits, so no small text becomes a large tree.
 * Scalars stay text: what "no" or "0644" means is for who knows the field.
 */
#pragma once

#include <jansson.h>

#include "base/error.h"

/* More than people write about a cluster; who reads a file reads no more of it. */
#define YAML_TEXT_LIMIT (1 << 20)

enum yaml_type {
	YAML_NOTHING, /* nothing behind the colon, ~ or null */
	YAML_WORD,
	YAML_LIST,
	YAML_MAP,
};

/* A place in a text, from 1 on. */
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
	bool quoted; /* the word is text, whatever it looks like */
	struct yaml_value *items;
	size_t count;
};

#define YAML_VALUE_INIT ((struct yaml_value){ YAML_NOTHING })

/* Loop over what is in the list or map VALUE with the `const struct yaml_value *` variable ITEM. */
#define yaml_for_each(item, value) \
	for (item = (value)->items; item && item < (value)->items + (value)->count; item++)

/*
 * Read TEXT, which comes from what people call NAME.  -EBADMSG with ERR beginning with
 * "NAME:LINE:COLUMN: "; an empty text is YAML_NOTHING.
 */
int yaml_read(const char *name, const char *text, size_t len, struct yaml_value *ret,
	      struct error *err);

/* What the map has at KEY, or NULL; a value that is there but YAML_NOTHING is NULL, too. */
const struct yaml_value *yaml_get(const struct yaml_value *map, const char *key);

/* -EBADMSG with "NAME:LINE:COLUMN: " and the words, for what is wrong at PLACE. */
int yaml_wrong(struct error *err, const char *name, struct yaml_place place, const char *fmt, ...)
	printf_like(4, 5);

/* "a list", for words about VALUE. */
const char *yaml_type_words(const struct yaml_value *value);

/* VALUE as JSON, for the caller to release: a word that is not quoted and looks like a number,
 * true or false is one. */
json_t *yaml_to_json(const struct yaml_value *value) must_check;

/* VALUE, objects and lists of text, numbers and flags, as lines of YAML that yaml_read() reads to
 * the same; for the caller to free. */
char *yaml_print(const json_t *value) must_check;

void yaml_value_release(struct yaml_value *value);
