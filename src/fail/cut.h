/*
 * Partitions and slow networks: rules of nftables on this host's bridge, where nodes cannot undo
 * them.
 *
 * Nodes are the ports of the bridge of their cluster, so rules match ports, not addresses, which a
 * node or a pod could forge.  The rules are a table of their own: the cluster's table, which the
 * front door keeps whole, knows nothing of failures.  Rules have no state, so that existing
 * connections are cut, too.
 */
#pragma once

#include "fail/failure.h"

/* The rules of the active failures of PROFILE, as the contents of a table of the family `bridge`;
 * NULL if there are none.  The caller frees them. */
int cut_rules(const struct profile *profile, char **ret_rules, struct error *err);
