/*
 * Checks of what nodes need from this host, with remedies.
 *
 * Nodes run on the host's kernel and use the programs in its /usr.  Each requirement is a row of
 * the table in probe.c.
 */
#pragma once

#include "base/error.h"
#include "base/strbuf.h"
#include "base/strlist.h"

enum probe_state {
	PROBE_OK,
	PROBE_WARNING, /* nodes work, or may work, with restrictions */
	PROBE_MISSING, /* nodes can't run without it */
};

struct probe_result {
	const char *name;    /* "nft", "overlayfs" */
	const char *purpose; /* what nodes need it for */
	enum probe_state state;
	const char *text;    /* what was found, or what is wrong; lower case, no full stop */
	const char *remedy;  /* what to do about it: a command or a sentence; NULL if state is OK */
	const char *package; /* for a program: its Debian package; else NULL */
	const struct reason *reason; /* the reason of the error if it is missing */
};

/* Called for each result, which is valid only during the call; a negative value ends the checks. */
typedef int (*probe_fn)(const struct probe_result *result, void *data);

/*
 * Do all checks in a fixed order and call FN for each result; returns the first negative result of
 * FN.  Changes nothing on the host: things that must be tried are tried in a temporary network
 * namespace.
 */
int probe_each(probe_fn fn, void *data);

/* "ok", "warning", "missing". */
const char *probe_state_word(enum probe_state state);

/* Fail if anything is missing that every start needs or, if WITH_DISKS, that nodes with their own
 * disks need.  The error names all missing things, its hint all remedies; its reason is that of the
 * first one.  Returns -ENOENT if that is a program, else -ENOTSUP. */
int probe_required(bool with_disks, struct error *err);

/* Add the programs that nodes need and for which HAS, called with DATA, returns false to NAMES, and
 * their Debian packages to PACKAGES. */
void probe_missing_programs(bool (*has)(const char *program, const void *data), const void *data,
			    struct strlist *names, struct strlist *packages);

/* As root, check whether the directory PATH supports idmapped mounts. */
int probe_idmap(const char *path, struct error *err);

/* The least memory and disk space that nodes need. */
#define PROBE_CONTROL_PLANE_BYTES (UINT64_C(900) << 20)
#define PROBE_WORKER_BYTES        (UINT64_C(110) << 20)
#define PROBE_DISK_BYTES          (UINT64_C(1) << 30)
#define PROBE_IMAGES_BYTES        (UINT64_C(1150) << 20) /* on a node's own disk */

/* Fail unless this much is free: -ENOMEM with reason_resources, -ENOSPC with reason_storage.  A
 * value of 0 is not checked. */
int probe_room(uint64_t memory_bytes, uint64_t disk_bytes, struct error *err);

/* The state directory, or its nearest existing parent; the caller frees it. */
int probe_state_dir(char **ret_path, struct error *err);

/*
 * Raise fs.inotify.max_user_instances to 8192 and fs.inotify.max_user_watches to 524288 where they
 * are lower, because the kubelet and containerd of every node use many.  If this fails, nodes may
 * still run: callers show the error, whose hint is the command to run, as a warning.
 */
int probe_raise_inotify(struct error *err);

/* The following functions are public for tests. */

/* Judge RESULTS as probe_required() does. */
int probe_judge(const struct probe_result *results, size_t count, struct error *err);

/*
 * The missing cgroup controllers that nodes need, separated by ", "; NULL if none is missing.  SELF
 * is the text of /proc/self/cgroup, UNIFIED that of /sys/fs/cgroup/cgroup.controllers or NULL on
 * cgroup v1.  The caller frees the result.
 */
char *probe_missing_controllers(const char *self, const char *unified) must_check;

/* Whether TEXT, the contents of /proc/filesystems, has the file system NAME. */
bool probe_has_filesystem(const char *text, const char *name);

/* The available memory according to TEXT, the contents of /proc/meminfo; 0 if unknown. */
uint64_t probe_available_memory(const char *text);

/* Whether RELEASE, in uname's format ("5.19.0-2-amd64"), is 5.19 or later. */
bool probe_kernel_is_new(const char *release);

/* Whether TEXT, the contents of /proc/PID/status, has the effective capability NUMBER. */
bool probe_has_capability(const char *text, unsigned number);

/* Judge the effect of CHAINS, the output of `nft list chains`, on clusters and describe it in TEXT.
 * If HAS_IPTABLES, the chains of iptables are no problem: a cluster adds rules to them. */
enum probe_state probe_judge_firewalls(const char *chains, bool has_iptables, struct strbuf *text);

/* The first user other than root to whom TEXT, the contents of /etc/subuid or /etc/subgid, gives
 * ids of nodes; NULL if there is none.  The caller frees it. */
char *probe_owner_of_ids(const char *text) must_check;

/* Raise the number in the file PATH to WANTED if it is lower; returns 1 if it was, else 0. */
int probe_raise_number(const char *path, unsigned long long wanted, struct error *err);
