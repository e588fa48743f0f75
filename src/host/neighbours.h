/*
 * Firewalls of other programs on this host.
 *
 * A packet must be accepted by every table that sees it, so our own table cannot help if Docker,
 * ufw or firewalld drop unknown packets.  They are configured, each in its own way, to accept
 * packets of a cluster's bridge while the cluster has its network.
 */
#pragma once

#include <netinet/in.h>

#include "base/error.h"
#include "base/strlist.h"

/* The table with the chains of iptables, which Docker and ufw use. */
#define NEIGHBOURS_IPTABLES "ip filter"

/* firewalld's zone for the bridges of clusters, which is permanent once made.  It accepts all
 * packets from them; the cluster's own table restricts them. */
#define NEIGHBOURS_ZONE "manykube"

/* Add the tables ("ip filter") in CHAINS, the output of `nft list chains`, that have a chain at
 * HOOK
 * ("input") with the policy drop, to RET.  Tables for IPv6 only are left out. */
void neighbours_find_drops(const char *chains, const char *hook, struct strlist *ret);

/*
 * Configure the firewalls that drop packets to accept those from BRIDGE and replies to them, and
 * connections from its nodes to the ports PORTS ("tcp 6443") of this host.  Returns false, with
 * warnings, if something could not be configured.
 */
bool neighbours_open(const char *bridge, const struct strlist *ports);

/* Undo neighbours_open() for BRIDGE, with any ports. */
void neighbours_close(const char *bridge);

/* Advice for a firewall that blocks nodes of SUBNET from this host; the caller frees it. */
char *neighbours_remedy(const char *subnet) must_check;
