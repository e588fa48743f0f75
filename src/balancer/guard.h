/*
 * Maintaining the cluster's firewall rules while it runs.
 *
 * Reloading the host's rules (`nft flush ruleset`, as a restart of the nftables service does)
 * removes our table.  Starting Docker, ufw or firewalld after the cluster makes them drop packets
 * of its nodes.  The kernel reports every change.  A table of ours that was removed or changed is
 * restored at once, and connections that others made with nodes in the meantime are removed; other
 * firewalls are told of the cluster when the changes are over.
 */
#pragma once

#include "balancer/balancer.h"
#include "base/loop.h"

struct guard;

struct guard *guard_new(struct loop *loop);

/* Waits for a running restore; no rules are restored after this. */
void guard_free(struct guard *guard);
DEFINE_CLEANUP(struct guard *, guard_free)

/* Maintain the rules of CONFIG, if it has any. */
int guard_set(struct guard *guard, const struct balancer_config *config, struct error *err);
