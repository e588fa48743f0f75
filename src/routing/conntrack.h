/* The kernel's connection tracking table. */
#pragma once

#include <stddef.h>

#include "base/error.h"
#include "data/inet.h"
#include "data/inet6.h"

/*
 * Remove all connections from or to an address in one of COUNT SUBNETS or in SUBNET6 (may be NULL),
 * before or after translation.  Succeeds without removing any if the kernel cannot list
 * connections.
 */
int conntrack_forget(const struct subnet *subnets, size_t count, const struct subnet6 *subnet6,
		     struct error *err);

/*
 * Remove those of these connections that would not exist if the cluster whose networks these are
 * had had its rules when they began: all but connections within them, and connections from
 * them to other addresses that are masqueraded.
 */
int conntrack_forget_strangers(const struct subnet *subnets, size_t count,
			       const struct subnet6 *subnet6, struct error *err);
