/* The root file system of a native node, built from mounts that were prepared outside. */
#pragma once

#include "base/error.h"
#include "driver/native-cpus.h"
#include "driver/native-mounts.h"

/* Detached mounts with mapped owners, made by namespace_map_tree(). */
struct native_trees {
	int usr;    /* the host's or a base's /usr, read-only */
	int node;   /* the node's tree: etc, var, and the upper layer of /usr */
	int views;  /* replacements for files of /proc, read-only */
	int bin;    /* the payload's programs, read-only */
	int cni;    /* the payload's CNI plugins, read-only */
	int agent;  /* the agent, a read-only file */
	int shared; /* what all nodes of the cluster share, read-only */
	int disk;   /* the node's /var if it has a disk of its own, or -1 */
	struct native_mounts mounts;
};

#define NATIVE_TREES_INIT ((struct native_trees){ -1, -1, -1, -1, -1, -1, -1, -1, { NULL } })

/* Open the trees of the node SPEC, mapped to its user namespace.  RET must be released also on
 * failure. */
int native_trees_open(const struct node_spec *spec, const char *agent, int userns_fd,
		      uid_t uid_base, struct native_trees *ret, struct error *err);
void native_trees_release(struct native_trees *trees);

/*
 * As the host's root: make a mount namespace and attach TREES in it.  When the process enters the
 * node's user namespace and unshares its mounts again, the kernel locks these mounts, so that the
 * node's root cannot make them writable.
 */
int native_stage(const struct native_trees *trees, struct error *err);

/* The same for a node in a pid namespace that it does not own, in a process of that namespace and
 * of the mount namespace of native_stage(): attach the /proc for the node. */
int native_stage_proc(struct error *err);

/*
 * After native_stage(), as root in new user, mount, pid, network, UTS, IPC and cgroup namespaces:
 * build the root file system, change to it, and detach the host's.  /opt/manykube/agent can then be
 * executed.  The node sees the processors CPUS; the size of its tmpfs mounts derives from
 * MEMORY_BYTES (0: the host's memory).
 */
int native_build_root(const char *hostname, const struct native_cpus *cpus, uint64_t memory_bytes,
		      const struct native_mounts *mounts, struct error *err);
