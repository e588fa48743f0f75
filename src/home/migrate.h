/*
 * Moving clusters that an earlier version kept in the user's home to root's own directories:
 * to STATE/moving/NAME first, where they are made root's, then to their place in STATE/profiles.
 * The line in STATE/old-clusters goes last, so an interrupted move is finished by the next command.
 */
#pragma once

#include "base/error.h"

/*
 * Move the cluster NAME to its place if it is in the user's home, does not run and can be moved.
 * Whoever calls it is root and holds the cluster's lock.  A cluster whose nodes are not root's is
 * refused with reason_host_config, and stays.
 */
int migrate_cluster(const char *name, struct error *err);

/* Remove DIR, the directory of the cluster NAME, from wherever it is. */
int migrate_remove(const char *name, const char *dir, struct error *err);
