/*
 * Forwarding of IPv4 packets on this host, for as long as a cluster needs it.
 *
 * On a host that does not forward (net.ipv4.ip_forward is 0), ip_forward stays 0, so that it still
 * says what the user and other programs chose.  Forwarding is turned on for single interfaces
 * instead: for every interface there is, since replies may come in at any of them, and for those
 * that come later, such as a VPN's.  What was turned on is recorded below /run, per network
 * namespace, before it is turned on: the record is gone after a reboot, as the setting is.
 */
#pragma once

#include "base/error.h"
#include "base/strlist.h"

/* Record which interfaces forwarding_begin() will turn on for BRIDGE, which need not exist, so that
 * forwarding_list() names them before they forward. */
int forwarding_plan(const char *bridge, struct error *err);

/* Have this host forward packets from and to BRIDGE, which must exist. */
int forwarding_begin(const char *bridge, struct error *err);

/*
 * BRIDGE needs no forwarding any more; succeeds if it never did.  With the last bridge that is
 * still there, interfaces forward no more that did not before, or came meanwhile, unless ip_forward
 * is 1 by now.
 */
int forwarding_end(const char *bridge, struct error *err);

/* Add to RET the interfaces that forward, or are about to, only because of forwarding_begin(). */
void forwarding_list(struct strlist *ret);
