/*
 * DNS for the nodes: questions are relayed to the host's own servers, or answered with "no such
 * name" at once when there are none.
 */
#pragma once

#include "base/loop.h"
#include "base/strlist.h"

struct dns;

struct dns *dns_new(struct loop *loop);
void dns_free(struct dns *dns);
DEFINE_CLEANUP(struct dns *, dns_free)

/* Listen on LISTEN (NULL: not at all) and ask the servers UPSTREAM; what stays is left alone. */
int dns_set(struct dns *dns, const char *listen, const struct strlist *upstream, struct error *err);
