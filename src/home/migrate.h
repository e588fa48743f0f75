/*
 * Moving clusters that an earlier version kept in the user's home to root's state directory: first
 * to STATE/moving/NAME, where root becomes their owner, then to STATE/profiles.  The line in
 * STATE/old-clusters is removed last, so that the next command finishes an interrupted move.
 */
#pragma once

#include "base/error.h"

/*
 * Move the cluster NAME to the state directory if it is in the user's home, does not run and can be
 * moved.  The caller is root and holds the cluster's lock.  A cluster whose nodes do not belong to
 * root is refused with reason_host_config, and stays where it is.
 */
int migrate_cluster(const char *name, struct error *err);

/* Remove DIR, the directory of the cluster NAME, wherever it is. */
int migrate_remove(const char *name, const char *dir, struct error *err);
