/*
 * Removing what is left when no cluster exists any more: the user's directories, and the cache
 * unless another user has clusters.
 *
 * MANYKUBE_HOME may be any directory: only files that are known to be manykube's are removed, and a
 * directory that contains others stays, with a warning.  A cache elsewhere (MANYKUBE_CACHE) stays,
 * too, because running clusters of another home may need it.
 */
#pragma once

#include "base/error.h"

/* -EINVAL with reason_usage if the state directory cannot belong to manykube alone: the root
 * directory, or a home. */
int purge_check(struct error *err);

/* Remove everything; missing files are not an error. */
int purge(struct error *err);
