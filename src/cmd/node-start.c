/* `node start`: start nodes that are down. */

#include "base/cleanup.h"
#include "cmd/minikube.h"
#include "cmd/node-change.h"
#include "record/options.h"

static struct {
	struct cluster_options wanted;
	bool all;
	const char *output;
} arg = {
	.wanted.wait_seconds = 360,
	.output = "text",
};

static const struct opt options[] = {
	OPT_FLAG(0, "all", &arg.all, "start all of them", .once = true),
	OPT_SECONDS(0, "wait-timeout", &arg.wanted.wait_seconds,
		    "how long to wait for the nodes after they are created"),
	OPT_YES,
	OPT_EVENTS(&arg.output),
	OPT_END,
};

static int run(struct command_context *ctx, struct error *err)
{
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	int r = node_choose(ctx, arg.all ? NODE_CHOICE_ALL : NODE_CHOICE_NAMED, &names, err);

	if (r < 0)
		return r;
	arg.wanted.only = &names;
	return node_bring_up(ctx, &arg.wanted, err);
}

const struct command cmd_node_start = {
	.name = "start",
	.operands = "NAME...",
	.summary = "start nodes, creating what is missing",
	.description = "A node that was stopped comes back with the same address, data and Node "
		       "object.",
	.examples = "manykube node start node-2\n"
		    "manykube node start --all\n",
	.max_operands = 1000,
	.complete = COMPLETE_NODE,
	.flags = COMMAND_CHANGES_NODES,
	.options = options,
	.absent = minikube_node_options,
	.events = &arg.output,
	.run = run,
};

const struct command cmd_worker_start = {
	.name = "start",
	.operands = "NAME...",
	.summary = "start workers, creating what is missing",
	.description =
		"Creates and starts workers registered by 'worker create'. A worker that was "
		"stopped comes back with the same address, data and Node object.",
	.examples = "manykube worker start database\n"
		    "manykube worker start --all\n",
	.max_operands = 1000,
	.complete = COMPLETE_NODE,
	.flags = COMMAND_CHANGES_NODES | COMMAND_WORKERS,
	.options = options,
	.absent = minikube_node_options,
	.events = &arg.output,
	.run = run,
};
