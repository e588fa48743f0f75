/*
 * The cluster's network on this host: a bridge, a way to every node's pods, rules that keep all
 * others out, and, unless the cluster is offline, address translation to the outside.
 */
#pragma once

#include "record/profile.h"

/*
 * Choose what a new PROFILE lacks: the subnet (WANTED, or one that nothing on this host
 * uses), the gateway, the pods' subnet, the bridge's name, the front door's port.  -EADDRINUSE with
 * reason_subnet_taken if WANTED is in use.
 */
int network_plan(struct profile *profile, const char *wanted, struct error *err);

/*
 * See that the ports of this host that PROFILE wants (the API's, and those of --ports) are free,
 * but for those that BEFORE (may be NULL) had already: -EADDRINUSE with reason_port_taken.
 */
int network_ports_are_free(const struct profile *profile, const struct profile *before,
			   struct error *err);

/*
 * Wait for and hold the lock of everybody on this host who plans a network, until *RET_FD is
 * closed: what was chosen is only seen by others once it is up.
 */
int network_lock(int *ret_fd, struct error *err);

/* Make the bridge, the routes and the firewall table. */
int network_up(const struct profile *profile, struct error *err);

/* The rules of that table, for the caller to free. */
char *network_rules(const struct profile *profile) must_check;

/* What of this host its nodes reach, as --host-access has it: the default if it was not chosen. */
const char *network_host_access(const struct profile *profile);

/* The ports of this host that nodes need ("tcp 6443"): the API, DNS, and those of --host-access. */
void network_host_ports(const struct profile *profile, struct strlist *ret);

/* Remove the way to the pods of NODE; succeeds if there is none. */
int network_forget(const struct node *node, struct error *err);

/* Remove all of it; succeeds if nothing is there. */
int network_down(const struct profile *profile, struct error *err);

/* The host's own DNS servers as "ADDRESS:53", found in TEXT, a resolv.conf. */
void network_parse_resolv(const char *text, struct strlist *ret_servers);
