/* Shared by the commands that start nodes. */
#pragma once

#include "cmd/command.h"
#include "record/options.h"
#include "record/spec.h"

/* The settings of one node, TO_, as options of a command, for its table. */
#define NODE_OPTIONS(to_)                                                                   \
	OPT_NODE_SETTINGS(&(to_).settings,                                                  \
			  "cpus memory static-ip label taint mount extra-config "           \
			  "feature-gates env max-pods kubelet-binary kubernetes-version "   \
			  "disk-size base-image driver"),                                   \
		OPT_NODE_SETTINGS(&(to_).settings, NULL),                                   \
		OPT_STRING(0, "container-runtime", &node_runtime, "NAME",                   \
			   "container runtime; only containerd is supported", .once = true, \
			   .check = spec_check_runtime,                                     \
			   .instead = "omit it, or use --container-runtime=containerd")

/* The value of --container-runtime, which is not used: there is only one runtime. */
extern const char *node_runtime;

/* The nodes that --all selects, if it was given. */
enum node_choice {
	NODE_CHOICE_NAMED,
	NODE_CHOICE_WORKERS,
	NODE_CHOICE_ALL,
};

/* Whether CTX's command applies to NODE: to any node, but only to workers for `worker`. */
bool node_concerns(const struct command_context *ctx, const struct node *node);

/* Move the nodes of PROFILE that CTX's command applies to to the front, and return their number. */
size_t node_sort(const struct command_context *ctx, struct profile *profile);

/* The node NAME of PROFILE for CTX's command; -EINVAL, with the command to use instead, if it does
 * not apply to that node. */
int node_need(const struct command_context *ctx, const struct profile *profile, const char *name,
	      struct node **ret_node, struct error *err);

/* The same for a node of CTX's cluster that must be given: an error if NAME is NULL. */
int node_need_named(const struct command_context *ctx, const char *name, struct node **ret_node,
		    struct error *err);

/* The nodes named by the operands, or selected by ALL; -EINVAL if neither was given. */
int node_choose(struct command_context *ctx, enum node_choice all, struct strlist *ret_names,
		struct error *err);

/* Check that the nodes that OPTIONS add can work. */
int node_check_size(const struct cluster_options *options, struct error *err);

/* Warn, in one line each, of nodes of PROFILE that are not Ready: nodes other than ABOUT (NULL: all
 * nodes), and nodes that wait for the user to install a CNI. */
void node_mention_unready(const struct profile *profile, const struct strlist *about);

/* The same for CLUSTER, whose record the command has changed. */
void node_mention_unready_now(const char *cluster, const struct strlist *about);

/*
 * Start the nodes in OPTIONS, showing progress and the result. An error if the cluster is not
 * running, unless nodes are added: then they are only registered.
 */
int node_bring_up(struct command_context *ctx, struct cluster_options *options, struct error *err);
