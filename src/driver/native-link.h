/* A native node's link to its cluster's bridge. */
#pragma once

#include <sys/types.h>

#include "driver/driver.h"

/* The name of the link's end on the host, BRIDGE.SLOT, of at most 15 characters; the caller frees
 * it.
 */
char *native_link_name(const struct node_spec *spec);

/* Open the network namespace of the node whose first process is PID. */
int native_link_open_network(const struct node_spec *spec, pid_t pid, int *ret_fd,
			     struct error *err);

/* Connect the node whose first process is PID, and set its address and routes. */
int native_link_plug_in(const struct node_spec *spec, pid_t pid, struct error *err);

/* Remove the links of all nodes on BRIDGE, which may no longer exist. */
int native_link_remove_all(const char *bridge, struct error *err);

/* Add a route to PODS/PREFIX via VIA to the node whose first process is PID, or REMOVE it. */
int native_link_route(const struct node_spec *spec, pid_t pid, struct in_addr pods, unsigned prefix,
		      struct in_addr via, bool remove, struct error *err);

/* The same for IPv6. */
int native_link_route6(const struct node_spec *spec, pid_t pid, const struct subnet6 *to,
		       const struct in6_addr *via, bool remove, struct error *err);
