/*
 * Passing TCP connections on: accept, find somebody who takes it, move bytes both ways.
 *
 * Bytes that the other side does not take yet are kept, and no more are read until they are gone,
 * so a connection holds at most one buffer per direction, and an idle one none.  The end of one
 * direction is passed on as such; a failure resets both sides.  A peer that vanished is found by
 * TCP's keepalive within half a minute; one that lives and says nothing, by the limits of the
 * proxy.
 */
#pragma once

#include "balancer/door.h"
#include "balancer/endpoint.h"
#include "base/strbuf.h"

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
	/* How many bytes at the beginning of HELD, all that a client sent and the target did not
	 * get yet, may go to the target; negative to reset the connection.  NULL: all. */
	ssize_t (*filter)(const struct strbuf *held);
	void *data;
};

struct proxy_limits {
	struct tally *tally; /* of connections; the owner's, and may be that of several proxies */
	unsigned silent_ms;  /* until the first byte, whichever side sends it */
	unsigned idle_ms;    /* without a byte in either direction */
	bool cluster_only;   /* only for whom origins_trust() */
};

/* Connections that LIMITS do not allow are reset. */
struct proxy *proxy_new(const struct door *door, const struct proxy_owner *owner,
			const struct proxy_limits *limits);
void proxy_free(struct proxy *proxy); /* closes its listeners and connections */
DEFINE_CLEANUP(struct proxy *, proxy_free)

/* Listen on just the COUNT addresses ADDRESSES, which the door has sockets for; goes on with the
 * others when one fails, and returns the first failure. */
int proxy_listen(struct proxy *proxy, char *const *addresses, size_t count, struct error *err);

/* Reset the connections to TARGET that are still there after LIMIT_MS; it may end them itself
 * before.
 */
void proxy_retire(struct proxy *proxy, unsigned target, unsigned limit_ms);

/* When TARGET last sent something on a connection that is open; 0: never. */
int64_t proxy_heard_ms(const struct proxy *proxy, unsigned target);

/* Reset the connections to TARGET. */
void proxy_drop(struct proxy *proxy, unsigned target);
