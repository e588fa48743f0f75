/* Text for a terminal: its width, and line breaking. */
#pragma once

#include "base/strbuf.h"

/* Columns that TEXT takes: its characters in UTF-8, wide ones counted twice. */
unsigned text_width(const char *text);

/* Add TEXT to OUT in lines of at most COLUMNS, broken at spaces, each after the first indented by
 * INDENT spaces; AT columns of the first line are already used. Ends without a newline. */
void text_wrap(struct strbuf *out, const char *text, unsigned at, unsigned indent,
	       unsigned columns);

/* Add as much of the line TEXT as fits into COLUMNS, with "…" for the rest. */
void text_clip(struct strbuf *out, const char *text, unsigned columns);

/* The width of the terminal FD; FALLBACK if it is not a terminal. */
unsigned text_columns(int fd, unsigned fallback);

/* Whether FD is a terminal whose cursor can be moved. */
bool text_has_cursor(int fd);

/* Whether to use colours on FD: a terminal, and NO_COLOR is not set. */
bool text_has_colour(int fd);

/* Whether to use emoji on FD: a UTF-8 terminal, unless MANYKUBE_IN_STYLE is false. */
bool text_has_emoji(int fd);
