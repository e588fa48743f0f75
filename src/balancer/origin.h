/*
 * Where connections and questions come from, and how many each origin may have at once.
 *
 * An origin is whoever could use up what others need: the host itself, one node with all its pods,
 * the addresses of the cluster's networks that no node was given, or one address elsewhere.
 */
#pragma once

#include <sys/socket.h>

#include "balancer/balancer.h"
#include "base/cleanup.h"

enum origin_kind {
	ORIGIN_HOST,
	ORIGIN_NODE,
	ORIGIN_STRAY,     /* of the cluster's networks, but no node's */
	ORIGIN_ELSEWHERE, /* another machine, or any address of a cluster without networks */
};

struct origin {
	enum origin_kind kind;
	uint8_t id[16]; /* a node's address, or what is known of one elsewhere; zero otherwise */
};

/* What tells origins apart: the cluster's nodes and networks. */
struct origins;

struct origins *origins_new(void);
void origins_free(struct origins *origins);
DEFINE_CLEANUP(struct origins *, origins_free)

/* Take over the nodes and networks of CONFIG. */
int origins_set(struct origins *origins, const struct balancer_config *config, struct error *err);

/* The origin of what came from FROM to the address AT (NULL if unknown). */
struct origin origins_find(const struct origins *origins, const struct sockaddr_storage *from,
			   const struct sockaddr_storage *at);

/* Whether ORIGIN is the host or belongs to the cluster; always true without networks, as in
 * configurations of earlier versions. */
bool origins_trust(const struct origins *origins, const struct origin *origin);

/*
 * A count per origin.  Of a total of N the host gets at most three quarters, and so do all others
 * together; each other one at most a quarter.  So neither side can shut the other out, and it takes
 * more than one to shut out the rest.
 */
struct tally;

struct tally *tally_new(unsigned total);
void tally_free(struct tally *tally);
DEFINE_CLEANUP(struct tally *, tally_free)

/* Count one more for ORIGIN; false if it may have no more. */
bool tally_take(struct tally *tally, const struct origin *origin);

/* One that was taken is over. */
void tally_give_back(struct tally *tally, const struct origin *origin);
