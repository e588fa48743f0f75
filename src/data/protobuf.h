/*
 * Protocol buffers: messages are written field by field into a strbuf and read with a reader that
 * never leaves the bytes that it was given.  There are no schemas; the caller knows the numbers of
 * the fields.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"

/* Append a field.  As in proto3, an integer 0 and an empty or missing (NULL) text are left out. */
void protobuf_add_number(struct strbuf *buf, unsigned field, uint64_t value);
void protobuf_add_text(struct strbuf *buf, unsigned field, const char *text);

/* Append the message or bytes in VALUE, even if empty. */
void protobuf_add_message(struct strbuf *buf, unsigned field, const struct strbuf *value);

/* Append an entry of a map of strings. */
void protobuf_add_pair(struct strbuf *buf, unsigned field, const char *key, const char *value);

/* The bytes that have not been read yet. */
struct protobuf {
	const char *data;
	size_t len;
};

struct protobuf_field {
	unsigned number;
	bool is_bytes;         /* text, bytes or a message in `bytes`; otherwise in `value` */
	uint64_t value;        /* an integer or a fixed-size number */
	struct protobuf bytes; /* points into the message */
};

/* Read the next field: 1, 0 at the end, -EBADMSG if the rest is damaged. */
int protobuf_next(struct protobuf *message, struct protobuf_field *ret);

/* Whether FIELD has NUMBER and contains bytes. */
bool protobuf_has_bytes(const struct protobuf_field *field, unsigned number);

/* A copy of FIELD's bytes as a string for the caller to free; NULL if they contain a NUL. */
char *protobuf_text(const struct protobuf_field *field) must_check;

/* Read the key and the value of an entry of a map of strings, both for the caller to free and never
 * NULL; -EBADMSG if it is not such an entry. */
int protobuf_pair(const struct protobuf_field *field, char **ret_key, char **ret_value);
