/*
 * Answers of an HTTP/1.1 server, parsed as they arrive: a status line, headers, and a body with a
 * length or in chunks.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"

enum answer_state {
	ANSWER_STATUS,
	ANSWER_HEADER,
	ANSWER_BODY,       /* `left` bytes of it follow */
	ANSWER_CHUNK_SIZE, /* the line before a chunk */
	ANSWER_CHUNK,
	ANSWER_CHUNK_END, /* the empty line after a chunk */
	ANSWER_TRAILER,   /* lines after the last chunk */
	ANSWER_DONE,
};

struct answer {
	enum answer_state state;
	int status;
	bool chunked;
	bool closes; /* the server closes the connection after this answer */
	uint64_t left;
	struct strbuf line;
};

#define ANSWER_INIT ((struct answer){ .line = STRBUF_INIT })

/* Called with parts of the body. */
typedef void (*answer_body_fn)(const char *data, size_t len, void *to);

/*
 * Parse LEN bytes, and return how many of them belong to this answer: fewer than LEN only if the
 * state is ANSWER_DONE.  -EBADMSG if this is no such answer.
 */
long answer_feed(struct answer *answer, const char *data, size_t len, answer_body_fn fn, void *to);

void answer_release(struct answer *answer);
