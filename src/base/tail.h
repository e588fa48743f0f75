/* Following growing files in a directory that another user can write to. */
#pragma once

#include <sys/types.h>

#include "base/error.h"
#include "base/strbuf.h"

/* A file and the position up to which it has been read. */
struct tail {
	int fd; /* still the same file after rotation gave its name to a new one */
	off_t offset;
};

#define TAIL_INIT ((struct tail){ .fd = -1 })

/* Open the file PATH in DIR like below_open(), close the file TAIL had open, and append the last
 * MOST bytes to OUT. */
int tail_end(const char *dir, const char *path, size_t most, struct tail *tail, struct strbuf *out,
	     struct error *err);

/* Append up to MOST bytes that were written since the last call to OUT.  Follows PATH when the file
 * was rotated.  No new bytes are no error. */
int tail_more(const char *dir, const char *path, size_t most, struct tail *tail, struct strbuf *out,
	      struct error *err);

void tail_release(struct tail *tail);

/* Keep only the last LINES lines of TEXT; false, with TEXT unchanged,
 * if it has no more than that. */
bool tail_keep_lines(struct strbuf *text, unsigned lines);
