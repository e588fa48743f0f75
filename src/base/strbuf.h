/*
 * A growing string.
 *
 * `text` is never NULL and always ends in a NUL that `len` does not count, so a
 * strbuf can be handed to any function that reads a C string.
 */
#pragma once

#include <stdarg.h>

#include "base/macro.h"

struct strbuf {
	char *text;
	size_t len;
	size_t capacity; /* 0 while `text` is the shared empty string */
};

extern char strbuf_empty[];
#define STRBUF_INIT ((struct strbuf){ .text = strbuf_empty })

void strbuf_add(struct strbuf *buf, const char *text);
void strbuf_add_char(struct strbuf *buf, char c);
void strbuf_add_mem(struct strbuf *buf, const void *data, size_t len);
void strbuf_addf(struct strbuf *buf, const char *fmt, ...) printf_like(2, 3);

/* Add TEXT as a terminal can show it: line breaks, tabs and characters of UTF-8 stay, control
 * characters become "^[" and the like, other bytes "?". */
void strbuf_add_printable(struct strbuf *buf, const char *text, size_t len);

/* What takes the place of "@NAME@" in a text. */
struct strbuf_value {
	const char *name; /* capital letters and '_'; NULL ends a list */
	const char *value;
};

/* Add TEXT, a file that the program holds, with "@NAME@" replaced by VALUES.  All names that occur
 * must be among them; any other '@' stays. */
void strbuf_add_filled(struct strbuf *buf, const char *text, const struct strbuf_value *values);

/* Make room for LEN more bytes behind the text and return where they go; strbuf_grown() counts
 * them. */
char *strbuf_grow(struct strbuf *buf, size_t len);
void strbuf_grown(struct strbuf *buf, size_t len);

/* Remove the first LEN bytes. */
void strbuf_drop_front(struct strbuf *buf, size_t len);

/* Remove trailing white space. */
void strbuf_trim_end(struct strbuf *buf);

/* Empty BUF but keep its memory for more. */
void strbuf_reset(struct strbuf *buf);

/* Give the string to the caller, who frees it; BUF is empty again. */
char *strbuf_take(struct strbuf *buf) must_check;

void strbuf_release(struct strbuf *buf);

/* Whether TEXT is OTHER; NULL is nothing. */
bool text_is(const char *text, const char *other);
