/*
 * Clusters in the place where an earlier version kept them: ~/.manykube/profiles/NAME, in files
 * that belong to the user.
 *
 * A running cluster is used where it is; home/migrate.h moves it once it is stopped.  The paths are
 * listed in STATE/old-clusters (record/state.h).  With MANYKUBE_HOME there are no such clusters.
 */
#pragma once

#include "base/strlist.h"
#include "record/profile.h"

/* The old directory of the cluster NAME, for the caller to free; NULL if there is none, or if the
 * caller is root and may not act on it. */
char *old_home_find(const char *name) must_check;

/* Append the names of clusters in old directories to RET_NAMES. */
void old_home_list(struct strlist *ret_names);

/*
 * old_home_recorded() returns the path in the user's home that is listed for the cluster NAME,
 * whether it exists or not; NULL if none is listed.  old_home_moving() returns the directory that
 * holds the cluster while it is being moved; NULL with MANYKUBE_HOME.  The caller frees both.
 */
char *old_home_recorded(const char *name) must_check;
char *old_home_moving(const char *name) must_check;

/* Remove the line of the cluster NAME from STATE/old-clusters. */
int old_home_forget(const char *name, struct error *err);
