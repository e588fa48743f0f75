/*
 * The state directory of a user's clusters, which belongs to root: see path_state().
 *
 * Only root and that user can enter /var/lib/manykube/UID.  Its file old-clusters lists, one per
 * line, the paths of clusters in the user's home, where an earlier version kept them.  It is
 * written once, when the directory is created, and lists only clusters with nodes that root
 * created.  Root acts on no other clusters in a home, because any process of the user could have
 * put them there.
 */
#pragma once

#include "base/error.h"

#define STATE_OLD_CLUSTERS "old-clusters"

/* The lock for plans of networks, in "locks": a name that no cluster can have. */
#define STATE_NETWORK_LOCK ".network"

/*
 * Why root cannot trust the open directory FD of a cluster in a user's home; NULL if it can, that
 * is if it contains nodes that only root could have created.  A user can neither create a directory
 * owned by root nor put anything into one.
 */
const char *state_distrust(int fd);

/* Create the state directory if it is missing and return its path; -EPERM with reason_not_root if
 * only root can create it. */
int state_ensure(char **ret_path, struct error *err);

/* Likewise for its subdirectory NAME, which the caller can write to; errors are the same. */
int state_make(const char *name, char **ret_path, struct error *err);
