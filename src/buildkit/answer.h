/*
 * What a Docker daemon answers to POST /build: lines of JSON with text, the progress of BuildKit,
 * the image's ID or an error.
 *
 * It was written by a node: everything is bounded, and the text that results has no control
 * characters.
 */
#pragma once

#include "base/error.h"
#include "base/strbuf.h"
#include "buildkit/trace.h"
#include "data/sha256.h"

struct build_answer {
	struct strbuf line; /* the beginning of one */
	struct build_trace trace;
	char image_id[SHA256_HEX_SIZE]; /* "" until it was reported */
	char *failure;                  /* the builder's error, or NULL */
	int status;                     /* the exit status that goes with it, from 1 to 255 */
};

#define BUILD_ANSWER_INIT ((struct build_answer){ .line = STRBUF_INIT, .trace = BUILD_TRACE_INIT })

/* Read the next LEN bytes and add what they say to OUT; -EBADMSG if they are no such answer. */
int build_answer_add(struct build_answer *answer, const char *data, size_t len, struct strbuf *out,
		     struct error *err);

/* Add what is said at the end: warnings, and the last lines of the step that failed. */
void build_answer_end(const struct build_answer *answer, struct strbuf *out);

void build_answer_release(struct build_answer *answer);
