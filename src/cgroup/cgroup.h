/*
 * Control groups on hosts with cgroup v1, v2 or both.
 *
 * A group is named by a path such as "manykube/dev/node-1", relative to the root of each mounted
 * hierarchy; every function works in all hierarchies.  All calls may be repeated, and removing a
 * missing group succeeds.
 */
#pragma once

#include <sys/types.h>

#include "base/error.h"
#include "cgroup/cgroup-find.h"
#include "cgroup/cpus.h"

/* Make the group PATH with all controllers enabled. */
int cgroup_create(const char *path, struct error *err);

/* Make the group PATH, which something else made, in the hierarchies in which it is missing. */
int cgroup_complete(const char *path, struct error *err);

/* The path of the group of process PID, which is the same in all hierarchies with controllers; NULL
 * if it is in none, or in the root.  The caller frees it. */
char *cgroup_of(pid_t pid) must_check;

/* The same from TEXT, the contents of /proc/PID/cgroup; for tests. */
char *cgroup_of_text(const char *text) must_check;

/* Put process PID into the group PATH. */
int cgroup_enter(const char *path, pid_t pid, struct error *err);

/* Open files that let a process enter a group when it no longer sees the host's hierarchies. */
struct cgroup_door {
	/* For each hierarchy two cgroup.procs: that of the sub-group, or -1,
	 * and that of the group. */
	int fds[2 * CGROUP_HIERARCHIES_MAX];
	size_t count;
};

#define CGROUP_DOOR_INIT ((struct cgroup_door){ .count = 0 })

/* Prepare entering the sub-group LEAF of PATH, or PATH itself where LEAF does not exist. */
int cgroup_door_open(const char *path, const char *leaf, struct cgroup_door *ret,
		     struct error *err);
void cgroup_door_release(struct cgroup_door *door);

/*
 * Move this process into the group of DOOR.  The node's root made the sub-group and may refuse
 * processes there; in that case the process enters the group itself.  Returns -1 and sets errno if
 * neither works.
 */
int cgroup_door_pass(const struct cgroup_door *door);

/*
 * The most processes and threads of one node on a host whose kernel allows PID_MAX and THREADS_MAX:
 * a quarter, but at least what a full node needs, and never more than half.
 */
uint64_t cgroup_pids_share(uint64_t pid_max, uint64_t threads_max);

/*
 * Limit the group to CPUS (0: no limit) and MEMORY_BYTES (0: 15/16 of the host's memory), and limit
 * the number of its processes and of groups below it.
 */
int cgroup_limit(const char *path, unsigned cpus, uint64_t memory_bytes, struct error *err);

/* The CPUs that the group PATH can use: those of its parent.  Empty if the host has no cpusets for
 * PATH. */
void cgroup_cpus_above(const char *path, struct cpus *ret);

/* Restrict PATH and the groups below it to CPUS; if CPUS is empty, to the CPUs of PATH's parent.
 * Does nothing if the host has no cpusets for PATH. */
int cgroup_pin(const char *path, const struct cpus *cpus, struct error *err);

/* Let UID make groups below PATH and move processes between them, but not change PATH's limits. */
int cgroup_delegate(const char *path, uid_t uid, gid_t gid, struct error *err);

/* Whether any process is in PATH or below. */
bool cgroup_has_processes(const char *path);

/* Send SIGNAL (0: none) to the processes in PATH and below that run the program NAME, of at most 15
 * characters.  Returns the number of such processes. */
unsigned cgroup_signal_program(const char *path, const char *name, int signal);

/* Freeze all processes in PATH and below and wait until they are frozen, or thaw them.  If they are
 * not frozen after 10 s, thaws them and returns -ETIMEDOUT. */
int cgroup_freeze(const char *path, bool frozen, struct error *err);

/* Whether all processes in PATH and below are frozen. */
bool cgroup_is_frozen(const char *path);

/* The memory used in PATH and below, without inactive page cache; 0 if unknown. */
uint64_t cgroup_memory_bytes(const char *path);

/* Kill every process in PATH and below, frozen or not, and wait until they are gone; -ETIMEDOUT
 * after 10 s.  Afterwards PATH may accept no processes until cgroup_limit() is called. */
int cgroup_kill(const char *path, struct error *err);

/* The same until DEADLINE_MS; looks at the processes twice in any case, so a group without any is
 * no error. */
int cgroup_kill_until(const char *path, int64_t deadline_ms, struct error *err);

/* Remove the group PATH and all groups below it, which must not have processes. */
int cgroup_remove(const char *path, struct error *err);

/* Remove the group PATH in each hierarchy in which it has no processes and no groups. */
void cgroup_remove_if_empty(const char *path);

/*
 * Mount the hierarchies, as seen from the caller's cgroup namespace, at DIR, an existing directory
 * such as sys/fs/cgroup.
 */
int cgroup_mount(const char *dir, struct error *err);
