/*
 * Where things are.
 *
 * The state that root acts on belongs to root and lies in system directories, a part for each user;
 * under sudo that user is the caller.  ~/.manykube has what the user may change without root.
 * MANYKUBE_HOME puts all of it into one directory.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

/* The user's home directory: HOME, or under sudo the caller's own; -ENOENT if it can't be found. */
int path_home(char **ret_path, struct error *err);

/* MANYKUBE_HOME, by default ~/.manykube: the user's settings.  Root writes there only with the
 * user's rights; see base/user.h. */
int path_user(char **ret_path, struct error *err);

/* MANYKUBE_HOME, by default /var/lib/manykube/UID: the user's clusters, which are root's.  See
 * record/state.h for how it comes to be. */
int path_state(char **ret_path, struct error *err);

/* MANYKUBE_CACHE, by default `cache` in MANYKUBE_HOME if that is set, else /var/cache/manykube:
 * payloads. */
int path_cache(char **ret_path, struct error *err);

/* Whether MANYKUBE_HOME is set, so that path_user() and path_state() are the same. */
bool path_is_one_home(void);

/* The directory that our own programs are in (the agent, pause): MANYKUBE_LIBEXEC, beside the
 * running program, or where they were installed with it. */
int path_libexec(char **ret_path, struct error *err);

/* The last component of PATH, which it points into: all of it if there is no '/'. */
const char *path_last_name(const char *path);

/* Who the user is: under sudo the caller, else ourselves. */
uid_t path_person_uid(void);
gid_t path_person_gid(void);
