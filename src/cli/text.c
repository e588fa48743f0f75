/* Text for a terminal. */

#include "cli/text.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* With fewer columns than this, the terminal does not know its size. */
#define FEWEST_COLUMNS 10

/* Decode the character at TEXT; a byte that is not UTF-8 stands for itself. */
static size_t decode(const char *text, uint32_t *ret)
{
	const unsigned char *p = (const unsigned char *)text;
	size_t len = *p < 0xc0 ? 1 : *p < 0xe0 ? 2 : *p < 0xf0 ? 3 : 4;
	uint32_t c = len == 1 ? *p : *p & (0x7fu >> len);

	for (size_t i = 1; i < len; i++) {
		if ((p[i] & 0xc0) != 0x80) {
			*ret = *p;
			return 1;
		}
		c = c << 6 | (p[i] & 0x3f);
	}
	*ret = c;
	return len;
}

static unsigned character_width(uint32_t c)
{
	if (c < 0x20 || c == 0x200d || (c >= 0xfe00 && c <= 0xfe0f) || (c >= 0x300 && c <= 0x36f))
		return 0;
	if ((c >= 0x1100 && c <= 0x115f) || (c >= 0x2e80 && c <= 0xa4cf) ||
	    (c >= 0xac00 && c <= 0xd7a3) || (c >= 0xf900 && c <= 0xfaff) ||
	    (c >= 0xff00 && c <= 0xff60) || (c >= 0x1f300 && c <= 0x1faff))
		return 2;
	return 1;
}

/* The columns of the LEN bytes at TEXT. */
static unsigned width_of(const char *text, size_t len)
{
	unsigned width = 0;
	uint32_t c;

	for (size_t i = 0; i < len && text[i];) {
		i += decode(text + i, &c);
		width += character_width(c);
	}
	return width;
}

unsigned text_width(const char *text)
{
	return width_of(text, strlen(text));
}

void text_wrap(struct strbuf *out, const char *text, unsigned at, unsigned indent, unsigned columns)
{
	bool begun = false;

	while (*text) {
		size_t len = strcspn(text, " \n");
		unsigned width = width_of(text, len);

		if (*text == '\n' || (begun && len > 0 && at + 1 + width > columns)) {
			strbuf_addf(out, "\n%*s", (int)indent, "");
			at = indent;
			begun = false;
			text += *text == '\n';
			continue;
		}
		if (len > 0) {
			if (begun)
				strbuf_add_char(out, ' ');
			strbuf_add_mem(out, text, len);
			at += width + begun;
			begun = true;
		}
		text += len;
		if (*text == ' ')
			text++;
	}
}

void text_clip(struct strbuf *out, const char *text, unsigned columns)
{
	unsigned room = columns;
	uint32_t c;

	if (text_width(text) <= columns) {
		strbuf_add(out, text);
		return;
	}
	if (columns == 0)
		return;
	room--;
	while (*text) {
		size_t len = decode(text, &c);

		if (character_width(c) > room)
			break;
		room -= character_width(c);
		strbuf_add_mem(out, text, len);
		text += len;
	}
	strbuf_add(out, "…");
}

unsigned text_columns(int fd, unsigned fallback)
{
	struct winsize size;

	if (!isatty(fd))
		return fallback;
	if (ioctl(fd, TIOCGWINSZ, &size) < 0 || size.ws_col < FEWEST_COLUMNS)
		return 80;
	return size.ws_col;
}

bool text_has_cursor(int fd)
{
	const char *terminal = getenv("TERM");

	return isatty(fd) && terminal && strcmp(terminal, "dumb") != 0;
}

bool text_has_colour(int fd)
{
	const char *no_colour = getenv("NO_COLOR");

	return text_has_cursor(fd) && !(no_colour && *no_colour);
}

bool text_has_emoji(int fd)
{
	static const char *const variables[] = { "LC_ALL", "LC_CTYPE", "LANG" };
	const char *style = getenv("MANYKUBE_IN_STYLE");

	if (!isatty(fd))
		return false;
	if (style && *style)
		return strcasecmp(style, "false") != 0 && strcmp(style, "0") != 0;
	for (size_t i = 0; i < ARRAY_SIZE(variables); i++) {
		const char *value = getenv(variables[i]);

		if (value && *value)
			return strcasestr(value, "utf-8") || strcasestr(value, "utf8");
	}
	return false;
}
