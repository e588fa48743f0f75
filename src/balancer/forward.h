/*
 * Ports of the host that are passed on to nodes: each connection goes to the first of a
 * list of addresses that takes it.
 */
#pragma once

#include "balancer/door.h"

struct forwards;

/* At most CONNECTION_LIMIT connections at once through all ports. */
struct forwards *forwards_new(const struct door *door, unsigned connection_limit);
void forwards_free(struct forwards *forwards);
DEFINE_CLEANUP(struct forwards *, forwards_free)

/* Pass on just what CONFIG says; a port that stays keeps its connections.  Goes on with the
 * others when one fails, and returns the first failure. */
int forwards_set(struct forwards *forwards, const struct balancer_config *config,
		 struct error *err);
