/*
 * Clusters where an earlier version kept them: ~/.manykube/profiles/NAME, in files of the user's.
 *
 * A cluster that runs is used where it is; home/migrate.h moves one that does not.  The paths are
 * in STATE/old-clusters (record/state.h).  With MANYKUBE_HOME there are no such clusters.
 */
#pragma once

#include "base/strlist.h"
#include "record/profile.h"

/* The directory of the cluster NAME, which is not in its place, for the caller to free; NULL if
 * there is none that root, if we are root, may act on. */
char *old_home_find(const char *name) must_check;

/* Add the names of clusters that are not in their place to RET_NAMES. */
void old_home_list(struct strlist *ret_names);

/* The path in the user's home that is known for the cluster NAME, whether it exists or not; NULL if
 * none is.  The directory in which it is while it is being moved, NULL with MANYKUBE_HOME.  Both
 * for the caller to free. */
char *old_home_recorded(const char *name) must_check;
char *old_home_moving(const char *name) must_check;

/* Remove the line of the cluster NAME from STATE/old-clusters. */
int old_home_forget(const char *name, struct error *err);
