/* Reading a log: its last lines, and lines that are appended later. */
#pragma once

#include "base/tail.h"
#include "look/logs.h"
#include "node/cluster-node.h"

struct log_reader {
	struct cluster_node at; /* the node that has it; without a driver for a log of the host */
	char *dir;              /* for a log of the host */
	char *path;
	struct tail tail;
};

#define LOG_READER_INIT ((struct log_reader){ .tail = TAIL_INIT })

/* Open LOG of PROFILE, which must both outlive RET; -ENOENT if it does not exist. */
int log_reader_open(const struct profile *profile, const struct log_source *log,
		    struct log_reader *ret, struct error *err);

/* Append the last LINES lines to OUT, at most 16 MiB of them. */
int log_reader_last(struct log_reader *reader, unsigned lines, struct strbuf *out,
		    struct error *err);

/*
 * Append what was written since to OUT, even if the file was rotated; no new text is not an error.
 */
int log_reader_more(struct log_reader *reader, struct strbuf *out, struct error *err);

void log_reader_release(struct log_reader *reader);
