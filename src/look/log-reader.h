/* Reading a log: its last lines, and what is added to it. */
#pragma once

#include "base/tail.h"
#include "look/logs.h"
#include "node/cluster-node.h"

struct log_reader {
	struct cluster_node at; /* the node that has it; without a driver if it is the host's */
	char *dir;              /* of the host, if it is the host's */
	char *path;
	struct tail tail;
};

#define LOG_READER_INIT ((struct log_reader){ .tail = TAIL_INIT })

/* Open LOG of PROFILE, both of which stay as they are meanwhile; -ENOENT if there is none. */
int log_reader_open(const struct profile *profile, const struct log_source *log,
		    struct log_reader *ret, struct error *err);

/* Add the last LINES lines to OUT, at most 16 MiB of them. */
int log_reader_last(struct log_reader *reader, unsigned lines, struct strbuf *out,
		    struct error *err);

/* Add what came since to OUT, also if the file was rotated; nothing is no error. */
int log_reader_more(struct log_reader *reader, struct strbuf *out, struct error *err);

void log_reader_release(struct log_reader *reader);
