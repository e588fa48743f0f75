/* The inside of a native node: its root file system, built from mounts that were prepared outside.
 */
#pragma once

#include "base/error.h"
#include "driver/native-cpus.h"
#include "driver/native-mounts.h"

/* Detached mounts with the node's view of owners, made by namespace_map_tree(). */
struct native_trees {
	int usr;   /* the host's or a base's /usr, read-only */
	int node;  /* the node's tree: etc, var, and the upper layer of /usr */
	int views; /* what stands for files of /proc, read-only */
	int bin;   /* the payload's programs, read-only */
	int cni;   /* the payload's CNI plugins, read-only */
	int agent; /* the agent, a read-only file */
	int disk;  /* the node's /var if it has a disk of its own, or -1 */
	struct native_mounts mounts;
};

#define NATIVE_TREES_INIT ((struct native_trees){ -1, -1, -1, -1, -1, -1, -1, { NULL } })

/* Take what the node of SPEC is made of as its user namespace sees it; RET is to be released also
 * when that fails. */
int native_trees_open(const struct node_spec *spec, const char *agent, int userns_fd,
		      uid_t uid_base, struct native_trees *ret, struct error *err);
void native_trees_release(struct native_trees *trees);

/*
 * In a process that is still the host's root: unshare the mounts and lay TREES out in them.
 * When the process goes on into the node's user namespace and unshares its mounts once more,
 * the kernel locks what it finds here, so that the node's root can't make it writable.
 */
int native_stage(const struct native_trees *trees, struct error *err);

/*
 * Afterwards, as root in new user, mount, pid, network, UTS, IPC and cgroup namespaces: build
 * the root file system out of it, make it the process's own, and let go of the host's.  Then
 * /opt/manykube/agent is there to be run.  The node sees CPUS processors (0: all), and what it
 * keeps in file systems in memory is limited by MEMORY_BYTES (0: the host's).
 */
int native_build_root(const char *hostname, const struct native_cpus *cpus, uint64_t memory_bytes,
		      const struct native_mounts *mounts, struct error *err);
