/*
 * A connection over which a client sends requests in HTTP/2 without TLS to a Unix socket, one after
 * another: what gRPC needs of RFC 9113, and no more.
 */
#pragma once

#include "base/cleanup.h"
#include "base/error.h"
#include "base/strbuf.h"

struct http2;

/* Connect to SOCKET; -ECONNREFUSED if nobody listens. */
int http2_connect(const char *socket, struct http2 **ret_http2, struct error *err);

void http2_free(struct http2 *http2);
DEFINE_CLEANUP(struct http2 *, http2_free)

/* A request, and what becomes of the answer. */
struct http2_request {
	const struct strbuf *headers; /* as hpack_add() makes them */
	const struct strbuf *body;
	int64_t deadline_ms;
	struct strbuf *answer; /* to which the body is appended... */
	size_t limit;          /* ... as far as that many bytes */

	/* Called for each header and trailer of the answer with ARG; a name of HPACK's static table
	 * is empty. */
	void (*take_header)(const struct strbuf *name, const struct strbuf *value, void *arg);
	void *arg;
};

/* Send REQUEST and read the whole answer.  -ETIMEDOUT at the deadline; -EAGAIN if the server says
 * that it did not look at the request.  After an error, the connection is of no more use. */
int http2_send(struct http2 *http2, const struct http2_request *request, struct error *err);

/* Whether no more requests may be sent. */
bool http2_is_over(const struct http2 *http2);
