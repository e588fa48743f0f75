/* `node add` and `worker create`: add nodes to a cluster. */

#include "base/alloc.h"
#include "base/cleanup.h"
#include "cli/events.h"
#include "cli/say.h"
#include "cmd/interrupt.h"
#include "cmd/minikube.h"
#include "cmd/node-change.h"
#include "cmd/setting-options.h"
#include "plan/plan.h"
#include "record/options.h"

static struct strlist names;

static struct {
	struct cluster_options wanted;
	struct node_options node;
	unsigned count;
	bool worker;
	const char *output;
} arg = {
	.wanted.wait_seconds = 360,
	.count = 1,
	.worker = true,
	.output = "text",
};

static const struct opt options[] = {
	OPT_STRING(0, "name", &arg.node.name, "NAME",
		   "name of the node (default: the first free node-N)", .once = true),
	OPT_POSITIVE(0, "count", &arg.count, "number of nodes to add", .once = true),
	OPT_FLAG(0, "control-plane", &arg.node.control_plane, "add a control plane", .once = true),
	OPT_FLAG(0, "worker", &arg.worker, "run ordinary pods on the node, also on a control plane",
		 .once = true),
	NODE_OPTIONS(arg.node),
	OPT_SECONDS(0, "wait-timeout", &arg.wanted.wait_seconds,
		    "how long to wait for the nodes after they are created"),
	OPT_YES,
	OPT_FLAG(0, "force", &arg.wanted.force, "continue although this host fails a check",
		 .once = true),
	OPT_EVENTS(&arg.output),
	OPT_END,
};

static const struct opt create_options[] = {
	OPT_STRING(0, "name", &arg.node.name, "NAME",
		   "name of the worker (default: the first free node-N)", .once = true),
	OPT_POSITIVE(0, "count", &arg.count, "number of workers to register", .once = true),
	NODE_OPTIONS(arg.node),
	OPT_FLAG(0, "force", &arg.wanted.force, "continue although this host fails a check",
		 .once = true),
	OPT_EVENTS(&arg.output),
	OPT_END,
};

static const struct opt absent_from_create[] = {
	OPT_ABSENT(0, "control-plane", NULL,
		   "'manykube node add --control-plane' adds a control plane", .harmless = "false"),
	OPT_ABSENT(0, "worker", NULL, "'manykube worker create' is for workers only",
		   .harmless = "true"),
	OPT_END,
};

/* The requested number of equal nodes. */
static const struct node_options *repeat_node(void)
{
	static struct node_options *nodes;

	nodes = xrealloc(nodes, arg.count, sizeof(*nodes));
	for (unsigned i = 0; i < arg.count; i++)
		nodes[i] = arg.node;
	return nodes;
}

static int take_operand(struct command_context *ctx, struct error *err)
{
	if (!arg.worker && !arg.node.control_plane)
		return error_because(err, &reason_usage, -EINVAL,
				     "--worker=false needs --control-plane");
	arg.node.no_schedule = !arg.worker;
	if (ctx->argc > 0 && arg.node.name)
		return error_because(err, &reason_usage, -EINVAL, "two names given: '%s' and '%s'",
				     ctx->argv[0], arg.node.name);
	if (ctx->argc > 0)
		arg.node.name = ctx->argv[0];
	if (arg.count > 1 && (arg.node.name || arg.node.address))
		return error_because(err, &reason_usage, -EINVAL, "%s is for one node, not for %u",
				     arg.node.name ? "a name" : "--static-ip", arg.count);
	setting_options_complete_node(&arg.node.settings);
	arg.wanted.only = &names;
	arg.wanted.add = repeat_node();
	arg.wanted.add_count = arg.count;
	return 0;
}

/* From now on the same command would add another node, or fail because the name is taken. */
static void explain_resuming(const struct cluster_options *wanted)
{
	cleanup_free char *nodes = strlist_join(wanted->only, " ");
	cleanup_free char *advice = xasprintf("nothing is lost: 'manykube node start %s' continues",
					      nodes);

	interrupt_explain(advice);
}

static int run(struct command_context *ctx, struct error *err)
{
	int r = take_operand(ctx, err);

	arg.wanted.recorded = explain_resuming;
	return r < 0 ? r : node_bring_up(ctx, &arg.wanted, err);
}

/* Only record the node; `worker start` creates it. */
static int run_create(struct command_context *ctx, struct error *err)
{
	cleanup_with(plan_release) struct plan plan = PLAN_INIT;
	cleanup_free char *shown = NULL;
	int r = take_operand(ctx, err);

	if (r == 0)
		r = node_check_size(&arg.wanted, err);
	if (r == 0)
		r = plan_profile(ctx->profile_name, &arg.wanted, &plan, err);
	if (r == 0)
		r = profile_save(&plan.profile, err);
	if (r < 0)
		return r;
	shown = strlist_join(&names, " ");
	if (!ctx->quiet || events_on_stdout())
		say_done("Registered %s; 'manykube worker start %s' creates and starts %s.", shown,
			 shown, names.count == 1 ? "it" : "them");
	return 0;
}

const struct command cmd_node_add = {
	.name = "add",
	.elsewhere = "create|new",
	.operands = "[NAME]",
	.summary = "add nodes to the cluster and start them",
	.description =
		"Adds nodes to a running cluster and waits until they are Ready. On a stopped "
		"cluster the nodes are only registered, and the next 'start' creates them. "
		"Concurrent 'node add' commands wait for each other. With --kubernetes-version, "
		"the node's kubelet is of an older release, as during an upgrade; everything else "
		"on the node has the cluster's version.",
	.examples = "manykube node add\n"
		    "manykube node add database --memory=4g --label=tier=db\n"
		    "manykube node add old --kubernetes-version=v1.35\n"
		    "manykube node add --count=5\n"
		    "manykube node add --control-plane\n",
	.max_operands = 1,
	.flags = COMMAND_CHANGES_NODES,
	.options = options,
	.absent = minikube_node_options,
	.interrupted = "nothing was added: run the same command again",
	.events = &arg.output,
	.run = run,
};

const struct command cmd_worker_create = {
	.name = "create",
	.operands = "[NAME]",
	.summary = "register a worker; 'worker start' creates and starts it",
	.examples = "manykube worker create\n"
		    "manykube worker create database --memory=4g\n",
	.max_operands = 1,
	.flags = COMMAND_CHANGES_NODES | COMMAND_WORKERS,
	.options = create_options,
	.absent = absent_from_create,
	.events = &arg.output,
	.run = run_create,
};
