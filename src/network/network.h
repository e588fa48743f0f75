/* The cluster's network on this host: a bridge, routes to the pods of every node, firewall rules
 * that keep others out and, unless the cluster is offline, address translation to the outside. */
#pragma once

#include <netinet/in.h>

#include "record/profile.h"

/*
 * Choose what a new PROFILE lacks: the subnet (WANTED, or one that nothing on this host uses), the
 * gateway, the pods' subnet, the bridge's name, the front door's port.  -EADDRINUSE with
 * reason_subnet_taken if WANTED is in use.
 */
int network_plan(struct profile *profile, const char *wanted, struct error *err);

/* Whether nobody listens at PORT of ADDRESS. */
bool network_port_is_free(struct in_addr address, unsigned port);

/* Whether a cluster other than OWN_NAME, which may be stopped, uses PORT for its API or its
 * registry. */
bool network_port_is_promised(unsigned port, const char *own_name);

/* Whether the front door of PROFILE publishes (--ports) PORT of ADDRESS or of all addresses; of any
 * address if ADDRESS is NULL. */
bool network_publishes(const struct profile *profile, const struct in_addr *address, unsigned port);

/* Check that the ports of this host that PROFILE uses (the API's, the registry's, and those of
 * --ports) are free,
 * except for those that BEFORE (may be NULL) already used: -EADDRINUSE with reason_port_taken. */
int network_ports_are_free(const struct profile *profile, const struct profile *before,
			   struct error *err);

/* Wait for and take the lock for planning networks on this host.  It is held until *RET_FD is
 * closed.  It is needed because a chosen network is not visible to others before it is up. */
int network_lock(int *ret_fd, struct error *err);

/* Create the bridge, the routes and the firewall table. */
int network_up(const struct profile *profile, struct error *err);

/* The rules of the firewall table, for the caller to free. */
char *network_rules(const struct profile *profile) must_check;

/* What nodes reach on this host: the value of --host-access, or its default. */
const char *network_host_access(const struct profile *profile);

/* The ports of this host that nodes need ("tcp 6443"): the API, DNS, and those of --host-access. */
void network_host_ports(const struct profile *profile, struct strlist *ret);

/* Remove the route to the pods of NODE; succeeds if there is none. */
int network_forget(const struct node *node, struct error *err);

/* Remove all of it; succeeds if nothing exists. */
int network_down(const struct profile *profile, struct error *err);

/* The host's DNS servers in TEXT, a resolv.conf, as "ADDRESS:53". */
void network_parse_resolv(const char *text, struct strlist *ret_servers);
