/*
 * Forwarding TCP connections: accept one, connect to a target, copy data in both directions.
 *
 * Data that the peer does not accept yet is buffered, and no more is read until it is sent, so a
 * connection has at most one buffer per direction, and none while idle.  The end of one direction
 * is passed on; a failure resets both sides.  TCP keepalive detects a vanished peer within half a
 * minute; the limits of the proxy apply to silent peers.
 */
#pragma once

#include "balancer/door.h"
#include "base/strbuf.h"
#include "host/endpoint.h"

struct proxy;
struct connection;

/* A target, chosen by the proxy's owner. */
struct proxy_target {
	const struct endpoint *endpoint;
	unsigned id; /* the owner's id of it; never 0 */
};

struct proxy_owner {
	/* Choose a target for a connection, without those in TRIED; false if there is none. */
	bool (*choose)(const unsigned *tried, unsigned tried_count, struct proxy_target *ret,
		       void *data);
	/* A connection to TARGET failed. */
	void (*failed)(unsigned target, void *data);
	/* How many bytes at the start of HELD, the client's data that is not yet sent to the
	 * target, may be sent; negative to reset the connection.  If NULL, all are sent. */
	ssize_t (*filter)(const struct strbuf *held);
	void *data;
};

struct proxy_limits {
	struct tally *tally; /* counts connections; the owner owns it, and proxies may share it */
	unsigned silent_ms;  /* the limit until the first byte from either side */
	unsigned idle_ms;    /* the limit without a byte in either direction */
	bool cluster_only;   /* accept only clients that origins_trust() accepts */
};

/* Connections beyond LIMITS are reset. */
struct proxy *proxy_new(const struct door *door, const struct proxy_owner *owner,
			const struct proxy_limits *limits);
void proxy_free(struct proxy *proxy); /* closes its listeners and connections */
DEFINE_CLEANUP(struct proxy *, proxy_free)

/* Listen on exactly the COUNT addresses ADDRESSES, for which the door has sockets.  If one fails,
 * continues with the others and returns the first error. */
int proxy_listen(struct proxy *proxy, char *const *addresses, size_t count, struct error *err);

/* Reset the connections to TARGET that still exist after LIMIT_MS; it may end them before. */
void proxy_retire(struct proxy *proxy, unsigned target, unsigned limit_ms);

/* When TARGET last sent data on a connection that is still open; 0: never. */
int64_t proxy_heard_ms(const struct proxy *proxy, unsigned target);

/* Reset the connections to TARGET. */
void proxy_drop(struct proxy *proxy, unsigned target);

/* Like proxy_drop(), for a TARGET that the owner no longer has; connections that are not connected
 * to it yet try another target at once. */
void proxy_withdraw(struct proxy *proxy, unsigned target);
