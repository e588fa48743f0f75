/*
 * Where things are.
 *
 * Under sudo, the home is that of the person who called sudo, and what is written
 * there for them to read belongs to them.
 */
#pragma once

#include <sys/types.h>

#include "base/error.h"

/* The person's home folder: HOME, or under sudo the caller's own; -ENOENT if it can't be found. */
int path_home(char **ret_path, struct error *err);

/* MANYKUBE_HOME, by default ~/.manykube: profiles, nodes, logs. */
int path_state(char **ret_path, struct error *err);

/* MANYKUBE_CACHE, by default the folder `cache` in path_state(): payloads. */
int path_cache(char **ret_path, struct error *err);

/* The folder that our own programs are in (the agent, pause): MANYKUBE_LIBEXEC, beside the running
 * program, or where they were installed with it. */
int path_libexec(char **ret_path, struct error *err);

/* Who the person is: under sudo the caller, else ourselves. */
uid_t path_person_uid(void);
gid_t path_person_gid(void);

/* Hand PATH over to the person; does nothing when that is us. */
int path_give_to_person(const char *path, struct error *err);

/* Make FOLDER and what is missing above it, all belonging to the person. */
int path_make_folder(const char *folder, struct error *err);
