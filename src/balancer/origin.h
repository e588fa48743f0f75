/*
 * Origins of connections and queries, and limits per origin.
 *
 * An origin is a party that could exhaust a shared limit: the host itself, one node with all its
 * pods, all addresses of the cluster's networks that belong to no node, or one address elsewhere.
 */
#pragma once

#include <sys/socket.h>

#include "balancer/balancer.h"
#include "base/cleanup.h"

enum origin_kind {
	ORIGIN_HOST,
	ORIGIN_NODE,
	ORIGIN_STRAY,     /* in the cluster's networks, but not a node or its pods */
	ORIGIN_ELSEWHERE, /* another machine; also all addresses if no networks are configured */
};

struct origin {
	enum origin_kind kind;
	uint8_t id[16]; /* the address of a node or of a machine elsewhere; otherwise zero */
};

/* The cluster's nodes and networks, which determine origins. */
struct origins;

struct origins *origins_new(void);
void origins_free(struct origins *origins);
DEFINE_CLEANUP(struct origins *, origins_free)

/* Use the nodes and networks of CONFIG. */
int origins_set(struct origins *origins, const struct balancer_config *config, struct error *err);

/* The origin of a connection or packet from FROM to AT (NULL if unknown). */
struct origin origins_find(const struct origins *origins, const struct sockaddr_storage *from,
			   const struct sockaddr_storage *at);

/* Whether ORIGIN is the host or belongs to the cluster.  Always true if no networks are configured,
 * as in configurations of earlier versions. */
bool origins_trust(const struct origins *origins, const struct origin *origin);

/*
 * A count per origin with a total limit.  The host may use at most three quarters of it, and so may
 * all other origins together; each of these at most a quarter.  So neither side can lock out the
 * other, and no single origin can lock out the rest.
 */
struct tally;

struct tally *tally_new(unsigned total);
void tally_free(struct tally *tally);
DEFINE_CLEANUP(struct tally *, tally_free)

/* Count one more for ORIGIN; false if its limit is reached. */
bool tally_take(struct tally *tally, const struct origin *origin);

/* Undo one tally_take(). */
void tally_give_back(struct tally *tally, const struct origin *origin);
