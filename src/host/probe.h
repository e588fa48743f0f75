/*
 * What this host can do, with the remedy for what it cannot.
 *
 * Nodes run on the host's kernel and with the programs in its /usr; each thing that they
 * need is one row of a table in probe.c.
 */
#pragma once

#include "base/error.h"
#include "base/strbuf.h"
#include "base/strlist.h"

enum probe_state {
	PROBE_OK,
	PROBE_WARNING, /* works, or may work, but not as well as it could */
	PROBE_MISSING, /* nodes can't run without it */
};

struct probe_result {
	const char *name;    /* "nft", "overlayfs" */
	const char *purpose; /* what nodes need it for */
	enum probe_state state;
	const char *text;    /* what was found, or what is wrong; lower case, no full stop */
	const char *remedy;  /* what to do about it: a command or a sentence; NULL if state is OK */
	const char *package; /* of a program: Debian's package; else NULL */
	const struct reason *reason; /* why nodes can't run when it is missing */
};

/* Told of each result, which lasts only as long as the call; a negative value ends the probing. */
typedef int (*probe_fn)(const struct probe_result *result, void *data);

/*
 * Look at everything and tell FN of it, in a fixed order; returns what FN returned if that is
 * negative.  Changes nothing: what must be tried out is tried in a network namespace that ends with
 * the trial.
 */
int probe_each(probe_fn fn, void *data);

/* "ok", "warning", "missing". */
const char *probe_state_word(enum probe_state state);

/* Fail unless all is there that any start needs, and nodes WITH_DISKS of their own, with the reason
 * of the first thing missing: -ENOENT if that is a program, else -ENOTSUP; one error names all, its
 * hint has the remedies. */
int probe_required(bool with_disks, struct error *err);

/* Add the programs that nodes need and HAS, called with DATA, denies to NAMES, and Debian's
 * packages of them to PACKAGES. */
void probe_missing_programs(bool (*has)(const char *program, const void *data), const void *data,
			    struct strlist *names, struct strlist *packages);

/* As root, try whether nodes can have the directory PATH with their own view of owners. */
int probe_idmap(const char *path, struct error *err);

/* What nodes take at least. */
#define PROBE_CONTROL_PLANE_BYTES (UINT64_C(900) << 20)
#define PROBE_WORKER_BYTES        (UINT64_C(110) << 20)
#define PROBE_DISK_BYTES          (UINT64_C(1) << 30)
#define PROBE_IMAGES_BYTES        (UINT64_C(1150) << 20) /* on a disk of its own */

/* Fail unless so much is free: -ENOMEM with reason_resources, -ENOSPC with reason_storage; 0 is not
 * looked at. */
int probe_room(uint64_t memory_bytes, uint64_t disk_bytes, struct error *err);

/*
 * Raise fs.inotify.max_user_instances to 8192 and fs.inotify.max_user_watches to 524288 where they
 * are lower: every node's kubelet and containerd take many.  If that fails, nodes may still run:
 * the error is fit for a warning, and its hint is the command that would do it.
 */
int probe_raise_inotify(struct error *err);

/* The parts that only compute, for tests. */

/* Judge RESULTS as probe_required() does. */
int probe_judge(const struct probe_result *results, size_t count, struct error *err);

/*
 * Which of the cgroup controllers that nodes need are missing, separated by ", " and for the caller
 * to free; NULL if none is.  SELF is the text of /proc/self/cgroup, UNIFIED that of
 * /sys/fs/cgroup/cgroup.controllers or NULL if there is none (cgroup v1).
 */
char *probe_missing_controllers(const char *self, const char *unified) must_check;

/* Whether TEXT, that of /proc/filesystems, has the file system NAME. */
bool probe_has_filesystem(const char *text, const char *name);

/* The bytes available according to TEXT, that of /proc/meminfo; 0 if it does not say. */
uint64_t probe_available_memory(const char *text);

/* Whether RELEASE, as uname says it ("5.19.0-2-amd64"), is 5.19 or later. */
bool probe_kernel_is_new(const char *release);

/* Whether TEXT, that of /proc/PID/status, has the capability NUMBER in effect. */
bool probe_has_capability(const char *text, unsigned number);

/* What CHAINS, printed by `nft list chains`, means for clusters, in words added to TEXT; those of
 * iptables can be told what to let pass where there is the program. */
enum probe_state probe_judge_firewalls(const char *chains, bool has_iptables, struct strbuf *text);

/* The first user, for the caller to free, to whom TEXT, that of /etc/subuid or /etc/subgid, gives
 * ids of nodes; NULL if there is none.  Root has all ids anyway. */
char *probe_owner_of_ids(const char *text) must_check;

/* Make the number in the file PATH at least WANTED; returns 1 if it was lower, 0 if not. */
int probe_raise_number(const char *path, unsigned long long wanted, struct error *err);
