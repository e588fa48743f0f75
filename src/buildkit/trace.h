/*
 * The progress of a build as BuildKit reports it, as text like that of 'docker build
 * --progress=plain': "#5 [2/2] RUN make", "#5 0.123 its output", "#5 DONE 1.2s".
 *
 * What is read here was written by a node: everything is bounded, and what is printed has no
 * control characters.
 */
#pragma once

#include <sys/types.h>

#include "base/error.h"
#include "base/strbuf.h"

struct build_step;

struct build_trace {
	struct build_step *steps; /* in the order in which they were first heard of */
	size_t count;
	unsigned numbered;      /* steps that were shown */
	const char *last;       /* the digest of the step that was shown last, or NULL */
	struct strbuf warnings; /* lines */
};

#define BUILD_TRACE_INIT ((struct build_trace){ .warnings = STRBUF_INIT })

/* Read the LEN bytes at DATA, a StatusResponse of BuildKit (protobuf), and add what is new to OUT.
 * -EBADMSG if they are none, or more than a build would send. */
int build_trace_add(struct build_trace *trace, const void *data, size_t len, struct strbuf *out,
		    struct error *err);

/* Add the last lines of the step that failed, if one did. */
void build_trace_failure(const struct build_trace *trace, struct strbuf *out);

void build_trace_release(struct build_trace *trace);
