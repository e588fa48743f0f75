/* The ends of log files, and what is added to them. */
#pragma once

#include <sys/types.h>

#include "base/error.h"
#include "base/strbuf.h"

struct tail {
	char *folder;
	char *path; /* in the folder */
	int fd;
	off_t offset; /* what was read up to here */
};

/* Open the file PATH in FOLDER as below_open() does; -ENOENT if there is none. */
int tail_open(const char *folder, const char *path, struct tail *ret, struct error *err);

/* Add the last LINES lines to OUT, at most 16 MiB of them. */
int tail_last(struct tail *tail, unsigned lines, struct strbuf *out, struct error *err);

/* Add what came since to OUT, also if the file was rotated; nothing is no error. */
int tail_more(struct tail *tail, struct strbuf *out, struct error *err);

void tail_release(struct tail *tail);
