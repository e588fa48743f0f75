/*
 * Ports of the host that are forwarded to nodes: each connection goes to the first of a list of
 * addresses that accepts it.
 */
#pragma once

#include "balancer/door.h"

struct forwards;

/* CONNECTION_LIMIT is the most connections at once through all ports. */
struct forwards *forwards_new(const struct door *door, unsigned connection_limit);
void forwards_free(struct forwards *forwards);
DEFINE_CLEANUP(struct forwards *, forwards_free)

/* Forward exactly the ports in CONFIG; ports that stay keep their connections.  If one fails,
 * continues with the others and returns the first error. */
int forwards_set(struct forwards *forwards, const struct balancer_config *config,
		 struct error *err);
