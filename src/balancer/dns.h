/*
 * DNS for the nodes: queries are relayed to the host's servers or, if there are none, answered with
 * "no such name".  Only standard queries (data/dns-packet.h) from the host and from the cluster's
 * addresses (origins_trust()) are handled; others are dropped or get an error.
 */
#pragma once

#include "balancer/door.h"
#include "base/strlist.h"

struct dns;

struct dns *dns_new(const struct door *door);
void dns_free(struct dns *dns);
DEFINE_CLEANUP(struct dns *, dns_free)

/* Listen on LISTEN (NULL: do not listen), for which the door has sockets, and relay to the servers
 * UPSTREAM.  Does nothing if both are unchanged. */
int dns_set(struct dns *dns, const char *listen, const struct strlist *upstream, struct error *err);
