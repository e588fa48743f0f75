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

/* Add TEXT so that it is safe to print on a terminal: newlines, tabs and UTF-8 characters are kept,
 * control characters become "^[" and the like; other bytes, and characters that are invisible or
 * change the order of others, become "?". */
void strbuf_add_printable(struct strbuf *buf, const char *text, size_t len);

/* The same on one line: newlines and tabs become spaces. */
void strbuf_add_printable_line(struct strbuf *buf, const char *text, size_t len);

/* A value for "@NAME@" in a template. */
struct strbuf_value {
	const char *name; /* capital letters and '_'; NULL ends a list */
	const char *value;
};

/* Add TEXT, a template compiled into the program, with each "@NAME@" replaced by its value.  Every
 * name in TEXT must be in VALUES; any other '@' is kept. */
void strbuf_add_filled(struct strbuf *buf, const char *text, const struct strbuf_value *values);

/* Make room for LEN bytes after the text and return a pointer to them.  After writing there, call
 * strbuf_grown() with the number of bytes written. */
char *strbuf_grow(struct strbuf *buf, size_t len);
void strbuf_grown(struct strbuf *buf, size_t len);

/* Remove the first LEN bytes. */
void strbuf_drop_front(struct strbuf *buf, size_t len);

/* Remove trailing white space. */
void strbuf_trim_end(struct strbuf *buf);

/* Empty BUF, keeping its memory. */
void strbuf_reset(struct strbuf *buf);

/* Return the string, which the caller frees, and empty BUF. */
char *strbuf_take(struct strbuf *buf) must_check;

void strbuf_release(struct strbuf *buf);

/* Whether TEXT equals OTHER; false if TEXT is NULL. */
bool text_is(const char *text, const char *other);
