/* The ends of files that grow, in a directory that somebody else may write to. */
#pragma once

#include <sys/types.h>

#include "base/error.h"
#include "base/strbuf.h"

/* How far a file was read. */
struct tail {
	int fd; /* the file, which stays the same when its name goes to another one */
	off_t offset;
};

#define TAIL_INIT ((struct tail){ .fd = -1 })

/* Open the file PATH in DIR as below_open() does, in place of what TAIL had opened, and add its
 * end, at most MOST bytes, to OUT. */
int tail_end(const char *dir, const char *path, size_t most, struct tail *tail, struct strbuf *out,
	     struct error *err);

/* Add what came since, at most MOST bytes, to OUT, also if the file was rotated; nothing is no
 * error. */
int tail_more(const char *dir, const char *path, size_t most, struct tail *tail, struct strbuf *out,
	      struct error *err);

void tail_release(struct tail *tail);

/* Keep just the last LINES lines of TEXT; false if it has fewer. */
bool tail_keep_lines(struct strbuf *text, unsigned lines);
