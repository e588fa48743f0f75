/* Text for a terminal: how wide it is, and how it is broken into lines. */
#pragma once

#include "base/strbuf.h"

/* Columns that TEXT takes: its characters in UTF-8, wide ones counted twice. */
unsigned text_width(const char *text);

/* Add TEXT to OUT in lines of at most COLUMNS, broken at spaces, each after the first begun with
 * INDENT spaces; AT columns of the first line are taken already.  Ends without a newline. */
void text_wrap(struct strbuf *out, const char *text, unsigned at, unsigned indent,
	       unsigned columns);

/* Add as much of the line TEXT as COLUMNS can show, with "…" for what is left out. */
void text_clip(struct strbuf *out, const char *text, unsigned columns);

/* The columns of the terminal FD; FALLBACK if it is none. */
unsigned text_columns(int fd, unsigned fallback);

/* Whether FD is a terminal whose cursor can be moved. */
bool text_has_cursor(int fd);

/* Whether FD is a terminal for colours (and NO_COLOR is not set). */
bool text_has_colour(int fd);

/* Whether FD is a terminal for emoji: one in UTF-8, unless MANYKUBE_IN_STYLE is false. */
bool text_has_emoji(int fd);
