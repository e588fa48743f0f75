/* The IPv6 part of a cluster's network on this host; all of it does nothing in clusters without
 * IPv6. */
#pragma once

#include "base/strbuf.h"
#include "data/inet6.h"
#include "host/link6.h"
#include "record/profile.h"

/* Choose the prefix of a new PROFILE, if it is to have IPv6: one that nothing on this host uses. */
int network6_plan(struct profile *profile, struct error *err);

/* The prefix of PROFILE; -ENOENT, without ERR, if it has none. */
int network6_prefix(const struct profile *profile, struct subnet6 *ret, struct error *err);

/* Whether nodes reach other machines with IPv6: the cluster is not offline, and this host can
 * forward for it. */
bool network6_reaches_others(const struct profile *profile);

/* Give the bridge, which has IPv6, its address. */
int network6_set_address(const struct profile *profile, struct link_socket *host,
			 struct error *err);

/* Route the pods of NODE to it, or REMOVE the route. */
int network6_host_route(const struct node *node, struct link_socket *host, bool remove,
			struct error *err);

/* Turn forwarding on, after the rules, and off. */
int network6_forward(const struct profile *profile, struct error *err);

/* The rules for IPv6 in the chains of network-rules.c: what each of them begins with. */
void network6_rules_nat(const struct profile *profile, struct strbuf *out);
void network6_rules_forged(const struct profile *profile, struct strbuf *out);
void network6_rules_from_nodes(const struct profile *profile, struct strbuf *out);
void network6_rules_to_nodes(const struct profile *profile, struct strbuf *out);
void network6_rules_bystanders(const struct profile *profile, struct strbuf *out);

/* Those for packets to this host: of its own table's chain from_nodes_to_host; of all others'; and
 * what nodes reach of it if not everything. */
void network6_rules_to_host(const struct profile *profile, struct strbuf *out);
void network6_rules_input(const struct profile *profile, struct strbuf *out);
void network6_rules_limits(const struct profile *profile, struct strbuf *out);
