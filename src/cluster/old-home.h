/*
 * Clusters where an earlier version kept them: ~/.manykube/profiles/NAME, in files of the user's.
 *
 * A cluster that runs is used where it is; one that does not is moved to root's own directories:
 * to STATE/moving/NAME first, where it is made root's, then to its place in STATE/profiles.  The
 * line in STATE/old-clusters (cluster/state.h) goes last, so an interrupted move is finished by the
 * next command.  With MANYKUBE_HOME there are no such clusters.
 */
#pragma once

#include "base/strlist.h"
#include "cluster/profile.h"

/* The directory of the cluster NAME, which is not in its place, for the caller to free; NULL if
 * there is none that root, if we are root, may act on. */
char *old_home_find(const char *name) must_check;

/* Add the names of clusters that are not in their place to RET_NAMES. */
void old_home_list(struct strlist *ret_names);

/*
 * Move the cluster NAME to its place if it is in the user's home, does not run and can be moved.
 * Whoever calls it is root and holds the cluster's lock.  A cluster whose nodes are not root's is
 * refused with reason_host_config, and stays.
 */
int old_home_move(const char *name, struct error *err);

/* Remove FOLDER, the directory of the cluster NAME, from wherever it is. */
int old_home_remove(const char *name, const char *folder, struct error *err);
