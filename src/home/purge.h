/*
 * Removing what is left when there is no cluster any more: the user's directories, and the cache
 * unless another user has clusters.
 *
 * MANYKUBE_HOME may be anything: only what is known to be ours goes, and a directory that holds
 * something else stays, with a warning.  So does a cache elsewhere (MANYKUBE_CACHE): the running
 * clusters of another home may need it.
 */
#pragma once

#include "base/error.h"

/* -EINVAL with reason_usage if the state directory can't be ours alone: the root, somebody's home.
 */
int purge_check(struct error *err);

/* Remove it; whatever is not there is no error. */
int purge(struct error *err);
