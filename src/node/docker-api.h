/*
 * Requests to the Docker daemon of a node whose bodies and answers are streams.
 *
 * There is no limit of time.  The daemon cancels what it does for a client whose connection ends.
 */
#pragma once

#include <sys/types.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "record/profile.h"

struct docker_request {
	const char *path; /* with its query, without the version of the API */

	/* Read the next bytes of the body to TO; 0 is its end.  NULL: GET, without a body. */
	ssize_t (*read)(void *data, char *to, size_t size, struct error *err);
	const char *type; /* of the body */

	/* Take the next bytes of a successful answer. */
	int (*take)(void *data, const char *bytes, size_t len, struct error *err);
	void *data; /* for both */

	/* How many seconds it may take with less than 1 KiB in each, there or back; 0: no limit. */
	unsigned slow_seconds;
};

/* Add TEXT to a query, encoded. */
void docker_add_encoded(struct strbuf *query, const char *text);

/*
 * Send REQUEST to the daemon of NODE.  Errors of its functions are returned as they are; -ENOENT
 * and -EBADMSG, with the daemon's words, if it refuses the request; -ECONNREFUSED if it cannot be
 * reached or the connection ends early.
 */
int docker_api_send(const struct profile *profile, const struct node *node,
		    const struct docker_request *request, struct error *err);
