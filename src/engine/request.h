/*
 * Requests to a daemon with Docker's API, whose bodies and answers can be streams.
 *
 * The daemon cancels what it does for a client whose connection ends.
 */
#pragma once

#include <sys/types.h>

#include "base/error.h"
#include "base/strbuf.h"

/* Where a daemon is. */
struct engine_place {
	const char *shown;  /* what errors call it: "the Docker daemon of node 'node-1'" */
	const char *socket; /* the path of its socket, or */
	const char *url;    /* https://HOST:PORT, with the certificates */
	const struct strbuf *ca;
	const struct strbuf *cert;
	const struct strbuf *key;
};

struct engine_request {
	const char *method; /* NULL: GET, or POST with a body */
	const char *path;   /* with its query, without the version of the API */
	const char *json;   /* the body, or */

	/* Read the next bytes of the body to TO; 0 is its end. */
	ssize_t (*read)(void *data, char *to, size_t size, struct error *err);
	const char *type; /* of that body */

	/* Take the next bytes of a successful answer; NULL: there is nothing to know. */
	int (*take)(void *data, const char *bytes, size_t len, struct error *err);
	void *data; /* for both */

	unsigned timeout_seconds; /* 0: no limit */

	/* How many seconds it may take with less than 1 KiB in each, there or back; 0: no limit. */
	unsigned slow_seconds;

	/* How many seconds the daemon may take no byte of the body and send none of an answer,
	 * whatever else it sends; 0: no limit. */
	unsigned silent_seconds;
};

/* Add TEXT to a query, encoded. */
void engine_add_encoded(struct strbuf *query, const char *text);

/*
 * Send REQUEST to the daemon at PLACE.  Errors of its functions are returned as they are.  If the
 * daemon refuses the request, the error has its words: -ENOENT (404), -EBUSY (409) or -EBADMSG.
 * -ECONNREFUSED if it cannot be reached or the connection ends early, -ETIMEDOUT at a limit.  An
 * answer that nothing had to be changed (304) is success.
 */
int engine_send(const struct engine_place *place, const struct engine_request *request,
		struct error *err);
