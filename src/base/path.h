/*
 * Paths of state, settings, cache and programs.
 *
 * State that root acts on is owned by root and kept in system directories, one per user; under
 * sudo, that is the user who called sudo.  ~/.manykube holds what users may change without root.
 * MANYKUBE_HOME puts everything into one directory.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

/* The user's home directory: HOME or, under sudo, the home of the user who called sudo; -ENOENT if
 * there is none. */
int path_home(char **ret_path, struct error *err);

/* The directory of the user's settings: MANYKUBE_HOME, by default ~/.manykube.  Root writes there
 * only with the user's rights; see base/user.h. */
int path_user(char **ret_path, struct error *err);

/* The directory of the user's clusters, owned by root: MANYKUBE_HOME, by default
 * /var/lib/manykube/UID.  record/state.h makes it. */
int path_state(char **ret_path, struct error *err);

/* The directory of payloads: MANYKUBE_CACHE, else `cache` in MANYKUBE_HOME if that is set, else
 * /var/cache/manykube. */
int path_cache(char **ret_path, struct error *err);

/* Whether MANYKUBE_HOME is set, so that path_user() and path_state() are the same. */
bool path_is_one_home(void);

/* The directory of the agent and pause programs: MANYKUBE_LIBEXEC, else the directory of the
 * running program if the agent is there, else the directory they were installed to. */
int path_libexec(char **ret_path, struct error *err);

/* The path of our own program, which is readable in a process list; /proc/self/exe if the program
 * no longer exists.  Tests set another program with MANYKUBE_SELF.  The caller frees it. */
char *path_itself(void) must_check;

/* The last component of PATH, as a pointer into PATH; PATH itself if it has no '/'. */
const char *path_last_name(const char *path);

/* Whether NAME, an entry of a directory, is "." or "..". */
bool path_is_dots(const char *name);

/* The user: under sudo the one who called sudo, else the one who runs this process. */
uid_t path_person_uid(void);
gid_t path_person_gid(void);
