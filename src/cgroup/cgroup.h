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
#include "cgroup/cgroup-find.h"
#include "cgroup/cpus.h"

/* Make the group PATH, with all controllers usable in it. */
int cgroup_create(const char *path, struct error *err);

/* Put process PID into the group PATH. */
int cgroup_enter(const char *path, pid_t pid, struct error *err);

/* A way into a group for a process that can't see the host's hierarchies any more. */
struct cgroup_door {
	int fds[2 *
		CGROUP_HIERARCHIES_MAX]; /* of each hierarchy: the sub-group's or -1, the group's */
	size_t count;
};

#define CGROUP_DOOR_INIT ((struct cgroup_door){ .count = 0 })

/* Open the way into the group PATH, or into its sub-group LEAF where that exists. */
int cgroup_door_open(const char *path, const char *leaf, struct cgroup_door *ret,
		     struct error *err);
void cgroup_door_release(struct cgroup_door *door);

/*
 * Move this process through DOOR.  Whoever made the sub-group may keep processes out of it, or keep
 * those in it from running: where the first fails, the group itself will do.  -1 with errno if the
 * process is not in the group afterwards.
 */
int cgroup_door_pass(const struct cgroup_door *door);

/*
 * How many processes and threads one node may have where the kernel has at most PID_MAX and
 * THREADS_MAX: a quarter, but at least what a full node needs, and never more than half.
 */
uint64_t cgroup_pids_share(uint64_t pid_max, uint64_t threads_max);

/*
 * Limit the group to CPUS (0: none), MEMORY_BYTES (0: nearly all that the host has), to its share
 * of the host's processes, and in the groups that may be made below it.
 */
int cgroup_limit(const char *path, unsigned cpus, uint64_t memory_bytes, struct error *err);

/* The CPUs that the group PATH can have: those of the group above.  None where this host has no
 * cpusets for it. */
void cgroup_cpus_above(const char *path, struct cpus *ret);

/* Have PATH and the groups below run on CPUS only, or without any on all of the group above; does
 * nothing where this host has no cpusets for it. */
int cgroup_pin(const char *path, const struct cpus *cpus, struct error *err);

/* Let UID make groups below PATH and move processes between them, but not change PATH's own limits.
 */
int cgroup_delegate(const char *path, uid_t uid, gid_t gid, struct error *err);

/* Whether any process is in PATH or below. */
bool cgroup_has_processes(const char *path);

/* Send SIGNAL (0: none) to the processes in PATH and below that run the program NAME, of at most 15
 * characters; returns how many there are. */
unsigned cgroup_signal_program(const char *path, const char *name, int signal);

/* Freeze all processes in PATH and below and wait until they are, or thaw them; -ETIMEDOUT after 10
 * s, all thawed again. */
int cgroup_freeze(const char *path, bool frozen, struct error *err);

/* Whether all processes in PATH and below are frozen. */
bool cgroup_is_frozen(const char *path);

/* What the processes in PATH and below hold of memory, without what the kernel could drop at once;
 * 0 if that is not known. */
uint64_t cgroup_memory_bytes(const char *path);

/* Kill every process in PATH and below, frozen or not, and wait until they are gone; -ETIMEDOUT
 * after 10 s.  The group may take no processes afterwards, before cgroup_limit(). */
int cgroup_kill(const char *path, struct error *err);

/* Remove the group PATH and those below it, which must be empty of processes. */
int cgroup_remove(const char *path, struct error *err);

/* Remove the group PATH where nothing is in it any more: no process and no group. */
void cgroup_remove_if_empty(const char *path);

/*
 * Mount the hierarchies at DIR (an existing directory, usually sys/fs/cgroup) as the
 * caller's cgroup namespace sees them.
 */
int cgroup_mount(const char *dir, struct error *err);
