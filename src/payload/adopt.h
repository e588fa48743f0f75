/*
 * Payloads where an earlier version kept them: ~/.manykube/cache/VERSION.
 *
 * Root runs what is in a payload, so it takes one over only if nobody but root could have changed
 * it.  With MANYKUBE_HOME or MANYKUBE_CACHE there are none.
 */
#pragma once

#include <stdbool.h>

#include "base/error.h"

/* The directory of VERSION in the user's home, whether it is there or not, for the caller to free;
 * NULL if such payloads are none of ours. */
char *payload_old_dir(const char *version) must_check;

/* As root: move VERSION from the user's home to the cache, and leave a link.  Whether it did; why
 * not is told, unless there is none. */
bool payload_adopt(const char *version);

/* Have the directory of the cache, for all to read. */
int payload_make_cache(struct error *err);

/* NULL if all in the open directory FD belongs to root and can be changed by nobody else, or what
 * is not so, for the caller to free.  What others can't reach may be as it is. */
char *payload_find_foreign(int fd) must_check;
