/* A growing string. */

#include "base/strbuf.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"

char strbuf_empty[1];

/* Whether the character at TEXT, with MORE bytes after the first, is invisible or changes the order
 * or the lines of what is around it: U+200B to U+200F, U+2028 to U+202E, U+2060 to U+206F, U+FEFF
 * and U+E0000 to U+E007F. */
static bool misleads(const unsigned char *text, size_t more)
{
	static const struct {
		uint32_t first;
		uint32_t last;
	} ranges[] = { { 0x200b, 0x200f },
		       { 0x2028, 0x202e },
		       { 0x2060, 0x206f },
		       { 0xfeff, 0xfeff },
		       { 0xe0000, 0xe007f } };
	uint32_t code = text[0] & (0x3fu >> more);

	for (size_t i = 1; i <= more; i++)
		code = code << 6 | (text[i] & 0x3fu);
	for (size_t i = 0; i < ARRAY_SIZE(ranges); i++)
		if (code >= ranges[i].first && code <= ranges[i].last)
			return true;
	return false;
}

/*
 * The length of the UTF-8 character at the start of TEXT, which has LEN bytes; 0 for a control
 * character, one that misleads, or invalid UTF-8.
 */
static size_t character_bytes(const unsigned char *text, size_t len)
{
	size_t more = text[0] < 0x80 ? 0 : text[0] < 0xe0 ? 1 : text[0] < 0xf0 ? 2 : 3;

	if (more == 0)
		return text[0] >= ' ' && text[0] != 0x7f;
	/* 0xc2 0x80 to 0xc2 0x9f are control characters as well. */
	if (text[0] < 0xc2 || text[0] > 0xf4 || more >= len || (text[0] == 0xc2 && text[1] < 0xa0))
		return 0;
	for (size_t i = 1; i <= more; i++)
		if ((text[i] & 0xc0) != 0x80)
			return 0;
	return misleads(text, more) ? 0 : more + 1;
}

void strbuf_add_filled(struct strbuf *buf, const char *text, const struct strbuf_value *values)
{
	const char *at;

	while ((at = strchr(text, '@'))) {
		size_t len = strspn(at + 1, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_");
		const struct strbuf_value *value = values;

		strbuf_add_mem(buf, text, (size_t)(at - text));
		text = at + 1;
		if (len == 0 || text[len] != '@') {
			strbuf_add_char(buf, '@');
			continue;
		}
		while (value->name &&
		       (strncmp(value->name, text, len) != 0 || value->name[len] != '\0'))
			value++;
		assert(value->name);
		strbuf_add(buf, value->value);
		text += len + 1;
	}
	strbuf_add(buf, text);
}

void strbuf_add_printable(struct strbuf *buf, const char *text, size_t len)
{
	const char *end = text + len;
	const char *kept = text; /* everything before it has been added to BUF */

	while (text < end) {
		const unsigned char c = (unsigned char)*text;
		size_t bytes = character_bytes((const unsigned char *)text, (size_t)(end - text));

		if (bytes > 0 || c == '\n' || c == '\t') {
			text += bytes ? bytes : 1;
			continue;
		}
		strbuf_add_mem(buf, kept, (size_t)(text - kept));
		if (c < ' ' || c == 0x7f)
			strbuf_addf(buf, "^%c", c ^ 0x40);
		else
			strbuf_add_char(buf, '?');
		kept = ++text;
	}
	strbuf_add_mem(buf, kept, (size_t)(end - kept));
}

void strbuf_add_printable_line(struct strbuf *buf, const char *text, size_t len)
{
	size_t before = buf->len;

	strbuf_add_printable(buf, text, len);
	for (char *c = buf->text + before; *c; c++)
		if (*c == '\n' || *c == '\t')
			*c = ' ';
}

char *strbuf_grow(struct strbuf *buf, size_t len)
{
	size_t needed = buf->len + len + 1;

	if (needed > buf->capacity) {
		size_t capacity = MAX(needed, buf->capacity * 2);

		buf->text = xrealloc(buf->capacity ? buf->text : NULL, capacity, 1);
		buf->capacity = capacity;
		buf->text[buf->len] = '\0';
	}
	return buf->text + buf->len;
}

void strbuf_grown(struct strbuf *buf, size_t len)
{
	assert(buf->len + len < buf->capacity);
	buf->len += len;
	buf->text[buf->len] = '\0';
}

void strbuf_add_mem(struct strbuf *buf, const void *data, size_t len)
{
	if (len == 0)
		return;
	memcpy(strbuf_grow(buf, len), data, len);
	strbuf_grown(buf, len);
}

void strbuf_add(struct strbuf *buf, const char *text)
{
	strbuf_add_mem(buf, text, strlen(text));
}

void strbuf_add_char(struct strbuf *buf, char c)
{
	strbuf_add_mem(buf, &c, 1);
}

void strbuf_addf(struct strbuf *buf, const char *fmt, ...)
{
	cleanup_free char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	strbuf_add(buf, text);
}

void strbuf_drop_front(struct strbuf *buf, size_t len)
{
	assert(len <= buf->len);
	if (len == 0)
		return;
	memmove(buf->text, buf->text + len, buf->len - len + 1);
	buf->len -= len;
}

void strbuf_trim_end(struct strbuf *buf)
{
	while (buf->len > 0 && strchr(" \t\r\n", buf->text[buf->len - 1]))
		buf->text[--buf->len] = '\0';
}

void strbuf_reset(struct strbuf *buf)
{
	buf->len = 0;
	if (buf->capacity)
		buf->text[0] = '\0';
}

char *strbuf_take(struct strbuf *buf)
{
	char *text = buf->capacity ? buf->text : xstrdup("");

	*buf = STRBUF_INIT;
	return text;
}

void strbuf_release(struct strbuf *buf)
{
	if (buf->capacity)
		free(buf->text);
	*buf = STRBUF_INIT;
}

bool text_is(const char *text, const char *other)
{
	return text && strcmp(text, other) == 0;
}
