/* What the commands that bring nodes up have in common. */
#pragma once

#include "cluster/cluster.h"
#include "cmd/command.h"

/* The settings of one node as options of a command, for its table. */
#define NODE_OPTIONS(to_)                                                                           \
	OPT_POSITIVE(0, "cpus", &(to_).cpus,                                                        \
		     "CPUs of the node; as the cluster's nodes unless given", .once = true),        \
		OPT_SIZE(                                                                           \
			'm', "memory", &(to_).memory_bytes,                                         \
			"memory of the node, for instance 2g; as the cluster's nodes unless given", \
			.once = true),                                                              \
		OPT_STRING(0, "static-ip", &(to_).address, "ADDRESS",                               \
			   "the node's address; the next free one unless given", .once = true),     \
		OPT_LIST(0, "label", &(to_).labels, "KEY=VALUE",                                    \
			 "a label of the node, beside the cluster's", .once = true),                \
		OPT_LIST(0, "taint", &(to_).taints, "KEY=VALUE:EFFECT",                             \
			 "a taint of the node, beside the cluster's", .once = true),                \
		OPT_LIST(0, "mount", &(to_).mounts, "HOST:NODE[:ro]",                               \
			 "a folder or file of this host that the node has, too", .once = true,      \
			 .complete = COMPLETE_FILE)

/* The nodes that the operands name, or ALL workers (with --all): -EINVAL if neither was given. */
int node_choose(struct command_context *ctx, bool all, struct strlist *ret_names,
		struct error *err);

/*
 * Bring up the nodes that OPTIONS are about, with progress, and say so.  An error if the cluster
 * does not run, unless nodes are added: these are registered then.
 */
int node_bring_up(struct command_context *ctx, struct cluster_options *options, struct error *err);
