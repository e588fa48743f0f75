/*
 * Passing TCP connections on: accept, find somebody who takes it, move bytes both ways.
 *
 * Bytes that the other side does not take yet are kept, and no more are read until they are gone,
 * so a connection holds at most one buffer per direction, and an idle one none.  The end of one
 * direction is passed on as such; a failure resets both sides.
 */
#pragma once

#include "balancer/endpoint.h"
#include "base/loop.h"

struct proxy;
struct connection;

/* Where to connect to, as a proxy's owner says it. */
struct proxy_target {
	const struct endpoint *endpoint;
	unsigned id; /* for the owner; never 0 */
};

struct proxy_owner {
	/* The next target for a connection that tried those in TRIED; false if there is none. */
	bool (*choose)(const unsigned *tried, unsigned tried_count, struct proxy_target *ret,
		       void *data);
	/* TARGET did not take a connection. */
	void (*failed)(unsigned target, void *data);
	void *data;
};

/* At most CONNECTION_LIMIT at once; more are reset. */
struct proxy *proxy_new(struct loop *loop, const struct proxy_owner *owner,
			unsigned connection_limit);
void proxy_free(struct proxy *proxy); /* closes its listeners and connections */
DEFINE_CLEANUP(struct proxy *, proxy_free)

/* Listen on just the COUNT addresses ADDRESSES; goes on with the others when one fails, and
 * returns the first failure. */
int proxy_listen(struct proxy *proxy, char *const *addresses, size_t count, struct error *err);

/* Reset the connections to TARGET. */
void proxy_drop(struct proxy *proxy, unsigned target);
