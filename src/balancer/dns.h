/*
 * DNS for the nodes: questions are relayed to the host's own servers, or answered with "no such
 * name" at once when there are none.  Only ordinary queries (dns-packet.h) of the host and of the
 * cluster's own addresses (origins_trust()) are; all else is dropped.
 */
#pragma once

#include "balancer/door.h"
#include "base/strlist.h"

struct dns;

struct dns *dns_new(const struct door *door);
void dns_free(struct dns *dns);
DEFINE_CLEANUP(struct dns *, dns_free)

/* Listen on LISTEN (NULL: not at all), which the door has sockets for, and ask the servers
 * UPSTREAM; what stays is left alone. */
int dns_set(struct dns *dns, const char *listen, const struct strlist *upstream, struct error *err);
