/* What the commands that bring nodes up have in common. */
#pragma once

#include "cmd/command.h"
#include "record/options.h"
#include "record/spec.h"

/* The settings of one node, TO_, as options of a command, for its table. */
#define NODE_OPTIONS(to_)                                                                  \
	OPT_NODE_SETTINGS(&(to_).settings,                                                 \
			  "cpus memory static-ip label taint mount extra-config "          \
			  "feature-gates env max-pods kubelet-binary kubernetes-version "  \
			  "disk-size base-image driver"),                                  \
		OPT_NODE_SETTINGS(&(to_).settings, NULL),                                  \
		OPT_STRING(0, "container-runtime", &node_runtime, "NAME",                  \
			   "what runs containers; there is only containerd", .once = true, \
			   .check = spec_check_runtime,                                    \
			   .instead = "leave it out, or give --container-runtime=containerd")

/* What --container-runtime says, which is of no further use: there is only one. */
extern const char *node_runtime;

/* What --all is about, if it was given. */
enum node_choice {
	NODE_CHOICE_NAMED,
	NODE_CHOICE_WORKERS,
	NODE_CHOICE_ALL,
};

/* Whether NODE is the business of CTX's command: all are, but to `worker` only workers. */
bool node_concerns(const struct command_context *ctx, const struct node *node);

/* Put the nodes of PROFILE that are the business of CTX's command first, and return how many they
 * are.
 */
size_t node_sort(const struct command_context *ctx, struct profile *profile);

/* The node NAME of PROFILE for CTX's command; -EINVAL, with the command to use instead, if it is
 * not its business. */
int node_need(const struct command_context *ctx, const struct profile *profile, const char *name,
	      struct node **ret_node, struct error *err);

/* The same for a node of CTX's cluster that must be named: NAME is NULL if it was not. */
int node_need_named(const struct command_context *ctx, const char *name, struct node **ret_node,
		    struct error *err);

/* The nodes that the operands name, or what ALL says: -EINVAL if neither was given. */
int node_choose(struct command_context *ctx, enum node_choice all, struct strlist *ret_names,
		struct error *err);

/* See that what OPTIONS add can work at all. */
int node_check_size(const struct cluster_options *options, struct error *err);

/* Mention, in a line each, nodes of the cluster called CLUSTER that are not Ready: others than
 * those that the command is ABOUT (NULL: all nodes), and those that lack a network of the user's.
 */
void node_mention_unready(const char *cluster, const struct strlist *about);

/*
 * Bring up the nodes that OPTIONS are about, with progress, and say so.  An error if the cluster
 * does not run, unless nodes are added: these are registered then.
 */
int node_bring_up(struct command_context *ctx, struct cluster_options *options, struct error *err);
