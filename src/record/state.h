/*
 * The directory of a user's clusters, which is root's: see path_state().
 *
 * Only root and that user can enter /var/lib/manykube/UID.  The file old-clusters in it has the
 * paths of clusters in the user's home, where an earlier version kept them, that were there when
 * the directory was made and had nodes that root has made: one per line.  Root acts on no others
 * in a home: any process of the user could have put them there.
 */
#pragma once

#include "base/error.h"

#define STATE_OLD_CLUSTERS "old-clusters"

/*
 * Why root can't rely on the open directory FD of a cluster in a user's home; NULL if it can: there
 * are nodes, and only root could have made them.  A user can neither make a directory of root's nor
 * put anything into one.
 */
const char *state_distrust(int fd);

/* Have the directory, made if missing; -EPERM with reason_not_root if only root can make it. */
int state_ensure(char **ret_path, struct error *err);

/* Have the directory NAME in it, for the caller to write to; errors are the same. */
int state_make(const char *name, char **ret_path, struct error *err);
