/*
 * Control groups of ours, on hosts with cgroup v1, v2 or both.
 *
 * A group is named by a path such as "manykube/dev/node-1", below the root of every
 * hierarchy that the host has mounted; each function does its work in all of them.
 * Everything may be repeated, and removing what is missing succeeds.
 */
#pragma once

#include <sys/types.h>

#include "base/error.h"

/* Make the group PATH, with all controllers usable in it. */
int cgroup_create(const char *path, struct error *err);

/* Put process PID into the group PATH, or into its sub-group LEAF (may be NULL) where that exists.
 */
int cgroup_enter(const char *path, const char *leaf, pid_t pid, struct error *err);

/* Limit the group: CPUS (0: none) and MEMORY_BYTES (0: none). */
int cgroup_limit(const char *path, unsigned cpus, uint64_t memory_bytes, struct error *err);

/* Let UID make groups below PATH and move processes between them, but not change PATH's own limits.
 */
int cgroup_delegate(const char *path, uid_t uid, gid_t gid, struct error *err);

/* Whether any process is in PATH or below. */
bool cgroup_has_processes(const char *path);

/* Freeze all processes in PATH and below and wait until they are, or thaw them; -ETIMEDOUT after 10
 * s, all thawed again. */
int cgroup_freeze(const char *path, bool frozen, struct error *err);

/* Whether all processes in PATH and below are frozen. */
bool cgroup_is_frozen(const char *path);

/* What the processes in PATH and below hold of memory, without what the kernel could drop at once;
 * 0 if that is not known. */
uint64_t cgroup_memory_bytes(const char *path);

/* Kill every process in PATH and below, frozen or not, and wait until they are gone; -ETIMEDOUT
 * after 10 s. */
int cgroup_kill(const char *path, struct error *err);

/* Remove the group PATH and those below it, which must be empty of processes. */
int cgroup_remove(const char *path, struct error *err);

/* Remove the group PATH where nothing is in it any more: no process and no group. */
void cgroup_remove_if_empty(const char *path);

/*
 * Mount the hierarchies at FOLDER (an existing folder, usually sys/fs/cgroup) as the
 * caller's cgroup namespace sees them.
 */
int cgroup_mount(const char *folder, struct error *err);
