/* A native node's link to its cluster's bridge. */
#pragma once

#include <sys/types.h>

#include "driver/driver.h"

/* The name of the link's end on the host.  It has at most 15 characters: the bridge's own name
 * tells the cluster, the slot the node.  The caller frees it. */
char *native_link_name(const struct node_spec *spec);

/* Open the network namespace of the node whose first process is PID. */
int native_link_open_network(const struct node_spec *spec, pid_t pid, int *ret_fd,
			     struct error *err);

/* Connect that node, which must not have a link yet, and give it its address and routes. */
int native_link_plug_in(const struct node_spec *spec, pid_t pid, struct error *err);

/* Remove the links of all nodes of the cluster whose bridge is BRIDGE, which may be gone. */
int native_link_remove_all(const char *bridge, struct error *err);

/* Have that node reach PODS/PREFIX via VIA, or no longer with REMOVE. */
int native_link_route(const struct node_spec *spec, pid_t pid, struct in_addr pods, unsigned prefix,
		      struct in_addr via, bool remove, struct error *err);
