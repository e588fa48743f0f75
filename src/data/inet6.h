/*
 * IPv6 addresses and subnets: parsing, printing, and the networks of a cluster.
 *
 * A cluster has one /48 of fd00::/8, of which everything else of it is a part, so one comparison
 * tells whether an address is the cluster's:
 *
 *	PREFIX::/64          nodes: this host is PREFIX::1, node number N is PREFIX::N
 *	PREFIX:100::/56      pods: PREFIX:100+N::/64 are those of node number N
 *	PREFIX:ffff::/112    services
 */
#pragma once

#include <netinet/in.h>

#include "base/error.h"

/* The network ADDRESS/PREFIX. */
struct subnet6 {
	struct in6_addr address;
	unsigned prefix;
};

/* Parse an address such as "fd00::1" in the one form that inet6_print_address() prints; -EINVAL
 * otherwise. */
int inet6_parse_address(const char *text, struct in6_addr *ret, struct error *err);

/* Parse "fd00::/48"; -EINVAL if it is not a subnet or has host bits set. */
int inet6_parse_subnet(const char *text, struct subnet6 *ret, struct error *err);

/* The caller frees the result. */
char *inet6_print_address(const struct in6_addr *address) must_check;
char *inet6_print_subnet(const struct subnet6 *subnet) must_check;

/* The subnet of PREFIX bits that ADDRESS is in. */
struct subnet6 inet6_subnet_of(const struct in6_addr *address, unsigned prefix);

bool inet6_contains(const struct subnet6 *subnet, const struct in6_addr *address);
bool inet6_overlap(const struct subnet6 *a, const struct subnet6 *b);

/* The bits of an address that a cluster's prefix has. */
#define INET6_CLUSTER_BITS 48

/* A prefix of fd00::/8 with these 40 bits; those of all callers should be random. */
struct subnet6 inet6_cluster_prefix(const uint8_t bits[5]);

/* The networks of the cluster with PREFIX. */
struct subnet6 inet6_nodes(const struct subnet6 *prefix);
struct subnet6 inet6_pods(const struct subnet6 *prefix);
struct subnet6 inet6_services(const struct subnet6 *prefix);

/* Number N of the nodes' network, 1 to 255; 1 is this host. */
struct in6_addr inet6_node_address(const struct subnet6 *prefix, unsigned n);

/* The pods of node number N, 2 to 255. */
struct subnet6 inet6_node_pods(const struct subnet6 *prefix, unsigned n);
