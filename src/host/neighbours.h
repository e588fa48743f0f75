/*
 * Firewalls of other programs on this host.
 *
 * A packet has to be accepted by every table that looks at it, so a table of our own can't help
 * where Docker, ufw or firewalld drop what they do not know.  These are told, in their own way and
 * for as long as the cluster has its network, to let the packets of its bridge pass.
 */
#pragma once

#include <netinet/in.h>

#include "base/error.h"
#include "base/strlist.h"

/* Where iptables, and with it Docker and ufw, has its chains. */
#define NEIGHBOURS_IPTABLES "ip filter"

/* firewalld's zone for the bridges of clusters, which stays there once it is made.  It accepts what
 * comes from them: the cluster's own table says what that may be. */
#define NEIGHBOURS_ZONE "manykube"

/* Add to RET the tables ("ip filter") in CHAINS, as `nft list chains` prints them, of which a chain
 * of HOOK ("input") drops what no rule of it accepts; tables for IPv6 alone are left out. */
void neighbours_find_drops(const char *chains, const char *hook, struct strlist *ret);

/*
 * Have those that drop let pass what comes from BRIDGE and what answers it, and let its nodes talk
 * to the ports of this host that PORTS names ("tcp 6443").  What can't be told is warned of, and
 * makes it false.
 */
bool neighbours_open(const char *bridge, const struct strlist *ports);

/* Take that back, whatever the ports were. */
void neighbours_close(const char *bridge);

/* What to do about a firewall that keeps nodes of SUBNET from this host, for the caller to free. */
char *neighbours_remedy(const char *subnet) must_check;
