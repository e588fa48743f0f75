/*
 * Payloads in the place where earlier versions kept them: ~/.manykube/cache/VERSION.
 *
 * Root runs the programs of a payload, so it takes one over only if no other user could have
 * changed it.  With MANYKUBE_HOME or MANYKUBE_CACHE, there are no such payloads.
 */
#pragma once

#include <stdbool.h>

#include "base/error.h"

/* The old directory of VERSION in the user's home, which may not exist; NULL with MANYKUBE_HOME or
 * MANYKUBE_CACHE.  The caller frees it. */
char *payload_old_dir(const char *version) must_check;

/* As root: move VERSION from the user's home to the cache and leave a link.  Returns whether it was
 * moved; warns if there is one that cannot be moved. */
bool payload_adopt(const char *version);

/* Make the directory of the cache, readable for all users. */
int payload_make_cache(struct error *err);

/* The first path in the open directory FD that users other than root own or can change; NULL if
 * there is none.  Directories that others cannot enter are not searched.  The caller frees the
 * path. */
char *payload_find_foreign(int fd) must_check;
