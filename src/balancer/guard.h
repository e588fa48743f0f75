/*
 * The cluster's rules among the host's, kept there while it runs.
 *
 * Who loads the host's own rules anew (`nft flush ruleset`, which is what a restart of nftables'
 * service does) takes our table away, and who starts Docker, ufw or firewalld beside a cluster has
 * them drop what its nodes send.  The kernel tells of every change; what is missing is put back.
 */
#pragma once

#include "balancer/balancer.h"
#include "base/loop.h"

struct guard;

struct guard *guard_new(struct loop *loop);

/* Waits for what is just being put back: nothing is after this. */
void guard_free(struct guard *guard);
DEFINE_CLEANUP(struct guard *, guard_free)

/* Keep what CONFIG names, which may be nothing. */
int guard_set(struct guard *guard, const struct balancer_config *config, struct error *err);
