/* Shared by the commands that start nodes. */

#include "cmd/node-change.h"

#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "cli/events.h"
#include "cli/progress.h"
#include "cli/say.h"
#include "cluster/cluster.h"
#include "kubeadm/members.h"
#include "plan/plan.h"
#include "record/limits.h"
#include "record/options.h"

const char *node_runtime;

bool node_concerns(const struct command_context *ctx, const struct node *node)
{
	return !(ctx->command->flags & COMMAND_WORKERS) || !node->control_plane;
}

size_t node_sort(const struct command_context *ctx, struct profile *profile)
{
	size_t count = 0;

	for (size_t i = 0; i < profile->node_count; i++) {
		struct node node = profile->nodes[i];

		if (!node_concerns(ctx, &node))
			continue;
		memmove(&profile->nodes[count + 1], &profile->nodes[count],
			(i - count) * sizeof(node));
		profile->nodes[count++] = node;
	}
	return count;
}

/* The command for any node that corresponds to COMMAND of `worker`: "manykube node stop". */
static const char *any_node_command(const struct command *command, const char **ret_before_name)
{
	const struct command *const *sub = cmd_node.subcommands;

	while (*sub && strcmp((*sub)->name, command->name) != 0)
		sub++;
	*ret_before_name = *sub ? "" : "--node=";
	return *sub ? "manykube node" : "manykube";
}

int node_need(const struct command_context *ctx, const struct profile *profile, const char *name,
	      struct node **ret_node, struct error *err)
{
	const char *before_name;
	const char *parent = any_node_command(ctx->command, &before_name);
	struct node *node;
	int r = profile_need_node(profile, name, &node, err);

	if (r < 0)
		return r;
	if (node_concerns(ctx, node)) {
		*ret_node = node;
		return 0;
	}
	(void)error_because(err, &reason_usage, -EINVAL,
			    "node '%s' is a control plane; 'manykube worker' is for workers only",
			    name);
	return error_hint(err, -EINVAL, "use '%s %s%s%s %s%s'", parent, ctx->command->name,
			  ctx->profile_given ? " -p " : "",
			  ctx->profile_given ? ctx->profile_name : "", before_name, name);
}

static int refuse_nameless(const struct command_context *ctx, struct error *err)
{
	bool workers = ctx->command->flags & COMMAND_WORKERS;

	(void)error_because(err, &reason_usage, -EINVAL, "no %s given",
			    workers ? "worker" : "node");
	return error_hint(err, -EINVAL, "'manykube %s list' lists the %s",
			  workers ? "worker" : "node", workers ? "workers" : "nodes");
}

int node_need_named(const struct command_context *ctx, const char *name, struct node **ret_node,
		    struct error *err)
{
	return name ? node_need(ctx, ctx->profile, name, ret_node, err) : refuse_nameless(ctx, err);
}

int node_choose(struct command_context *ctx, enum node_choice all, struct strlist *ret_names,
		struct error *err)
{
	struct node *node;

	if (ctx->argc == 0 && !all)
		return refuse_nameless(ctx, err);
	if (ctx->argc > 0 && all)
		return error_because(err, &reason_usage, -EINVAL, "--all conflicts with '%s'",
				     ctx->argv[0]);
	for (int i = 0; i < ctx->argc; i++) {
		int r = node_need(ctx, ctx->profile, ctx->argv[i], &node, err);

		if (r < 0)
			return r;
		strlist_add(ret_names, node->name);
	}
	if (all)
		profile_for_each_node(node, ctx->profile)
			if (node->phase != NODE_LEAVING && node_concerns(ctx, node) &&
			    (all == NODE_CHOICE_ALL || !node->control_plane))
				strlist_add(ret_names, node->name);
	if (ret_names->count == 0)
		return error_because(err, &reason_node_missing, -ENOENT,
				     "cluster '%s' has no worker", ctx->profile_name);
	return 0;
}

int node_check_size(const struct cluster_options *options, struct error *err)
{
	for (size_t i = 0; i < options->add_count; i++) {
		const struct node_options *node = &options->add[i];
		uint64_t least = node->control_plane ? CONTROL_PLANE_LEAST_BYTES
						     : WORKER_LEAST_BYTES;

		if (!node->memory_bytes || node->memory_bytes >= least || options->force)
			continue;
		(void)error_because(err, &reason_resources, -ERANGE,
				    "--memory: a %s needs at least %llu MiB",
				    node->control_plane ? "control plane" : "worker",
				    (unsigned long long)(least >> 20));
		if (node->origin)
			(void)plan_blame_file(node, -ERANGE, err);
		else if (node->name)
			(void)error_prefix(err, -ERANGE, "node '%s'", node->name);
		return error_hint(err, -ERANGE, "use more memory, or --force to try");
	}
	return 0;
}

static void say_what(const char *cluster, const struct cluster_options *options,
		     const struct cluster_outcome *outcome)
{
	cleanup_free char *names = strlist_join(options->only, ", ");
	const char *nodes = options->only->count == 1 ? "node" : "nodes";
	bool did_something = outcome->started > 0 || outcome->joined > 0 || outcome->repaired > 0;

	if (outcome->only_registered)
		say_done("Registered %s %s; cluster \"%s\" is not running, 'manykube start' "
			 "starts all of it.",
			 nodes, names, cluster);
	else if (options->add_count > 0)
		say_done("Successfully added %s to %s!", names, cluster);
	else if (!did_something)
		say_done("%s %s already running.", names, options->only->count == 1 ? "is" : "are");
	else
		say_done("Successfully started %s %s!", nodes, names);
}

void node_mention_unready(const struct profile *profile, const struct strlist *about)
{
	cleanup_with(strlist_release) struct strlist others = STRLIST_INIT;
	cleanup_with(strlist_release) struct strlist bare = STRLIST_INIT;
	cleanup_free char *names = NULL;

	if (cluster_find_unready(profile, about, &others, &bare, NULL) < 0)
		return;
	names = strlist_join(&others, ", ");
	if (others.count > 0)
		log_warning("%s %s not Ready: see 'manykube status'", names,
			    others.count == 1 ? "is" : "are");
	if (bare.count > 0)
		log_warning("nodes stay NotReady until a CNI is installed: the cluster was "
			    "created with --cni=none");
}

void node_mention_unready_now(const char *cluster, const struct strlist *about)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;

	if (profile_load(cluster, &profile, NULL) == 0)
		node_mention_unready(&profile, about);
}

/* Nodes need the API to join; named control planes are unpaused. */
static int check_awake(const struct command_context *ctx, const struct cluster_options *options,
		       struct error *err)
{
	const struct node *node;

	profile_for_each_node(node, ctx->profile)
		if (node->control_plane && strlist_has(options->only, node->name))
			return 0;
	return cluster_need_awake(ctx->profile, err);
}

int node_bring_up(struct command_context *ctx, struct cluster_options *options, struct error *err)
{
	cleanup_with(progress_freep) struct progress *progress = NULL;
	struct cluster_outcome outcome;
	int r = node_check_size(options, err);

	if (r == 0)
		r = check_awake(ctx, options, err);
	if (r < 0)
		return r;
	options->wait = WAIT_API | WAIT_NODES;
	progress = progress_new(ctx->quiet, log_verbosity);
	r = cluster_start(ctx->profile_name, options, progress_observer(progress), &outcome, err);
	progress_free(take_ptr(progress));
	if (r == 0 && outcome.only_registered && options->add_count == 0) {
		(void)error_because(err, &reason_api_not_running, -ESRCH,
				    "cluster '%s' is not running; a node cannot start alone",
				    ctx->profile_name);
		return error_hint(err, -ESRCH, "'manykube start' starts all of it");
	}
	if (r == 0 && (!ctx->quiet || events_on_stdout()))
		say_what(ctx->profile_name, options, &outcome);
	if (r == 0 && !ctx->quiet && !outcome.only_registered)
		node_mention_unready_now(ctx->profile_name, options->only);
	return r;
}
