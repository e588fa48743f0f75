/*
 * Forwarding on this host while clusters need it.  FAMILY is AF_INET or AF_INET6.
 *
 * On a host that does not forward (net.ipv4.ip_forward is 0), ip_forward stays 0, because it shows
 * the choice of the user and of other programs.  Instead, forwarding is turned on per interface:
 * for all existing ones, since replies may arrive on any of them, and for future ones, such as a
 * VPN's.  The same holds for IPv6 and net.ipv6.conf.all.forwarding, which would besides make
 * this host ignore the routers that it has, with force_forwarding of each interface.  Changes are
 * recorded below /run, per network namespace, before they are made.  A reboot clears both the
 * record and the settings.
 */
#pragma once

#include "base/error.h"
#include "base/strlist.h"

/* Whether this host forwards at all or can do so per interface; always for IPv4. */
bool forwarding_is_possible(int family);

/* Record the interfaces that forwarding_begin() will turn on for BRIDGE, which need not exist.
 * forwarding_list() then lists them before they forward. */
int forwarding_plan(int family, const char *bridge, struct error *err);

/* Make this host forward packets from and to BRIDGE, which must exist. */
int forwarding_begin(int family, const char *bridge, struct error *err);

/*
 * Record that BRIDGE no longer needs forwarding; succeeds if it never did.  With the last bridge,
 * forwarding is turned off on the interfaces on which we turned it on, including ones that appeared
 * later, unless ip_forward is 1 by then.
 */
int forwarding_end(int family, const char *bridge, struct error *err);

/* Add the interfaces that forward, or will forward, only because of forwarding_begin() to RET. */
void forwarding_list(int family, struct strlist *ret);
