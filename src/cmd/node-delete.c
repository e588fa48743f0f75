/* `node delete`: remove nodes from a cluster. */

#include "base/cleanup.h"
#include "base/log.h"
#include "cli/events.h"
#include "cli/progress.h"
#include "cli/say.h"
#include "cluster/cluster.h"
#include "cmd/interrupt.h"
#include "cmd/lost-pods.h"
#include "cmd/node-change.h"
#include "kubeadm/drain.h"

static struct {
	bool force;
	bool yes;
	unsigned drain_seconds;
	const char *output;
} arg = {
	.drain_seconds = DRAIN_DELETE_SECONDS,
	.output = "text",
};

/* For workers, too. */
#define OPTIONS                                                                              \
	OPT_SECONDS(0, "drain-timeout", &arg.drain_seconds,                                  \
		    "how long draining may take; the node is then deleted anyway"),          \
		OPT_FLAG('y', "yes", &arg.yes, "do not ask before pods or volumes are lost", \
			 .once = true),                                                      \
		OPT_EVENTS(&arg.output)

#define INTERRUPTED                                                                         \
	"run the same command again to finish the deletion, or 'manykube start' to keep a " \
	"node that was still being drained"

static const struct opt options[] = {
	OPT_FLAG(0, "force", &arg.force,
		 "do not drain the node, and allow deleting a control plane that etcd needs for a "
		 "majority; 'manykube node recover' must then restore the API",
		 .once = true),
	OPTIONS,
	OPT_END,
};

static const struct opt worker_options[] = {
	OPT_FLAG(0, "force", &arg.force, "do not drain the node first", .once = true),
	OPTIONS,
	OPT_END,
};

static int delete_one(struct command_context *ctx, const char *name, struct error *err)
{
	cleanup_with(progress_freep) struct progress *progress = progress_new(ctx->quiet,
									      log_verbosity);
	struct observer *observer = progress_observer(progress);
	bool api_knows = false;
	int r;

	interrupt_explain_drain(INTERRUPTED, observer);
	r = cluster_remove_node(ctx->profile, name, arg.force, arg.force ? 0 : arg.drain_seconds,
				observer, &api_knows, err);

	progress_free(take_ptr(progress));
	if (r == 0)
		r = cluster_close_ports(ctx->profile, name, err);
	if (r < 0)
		return r;
	if (api_knows)
		log_warning("the API does not answer; the next 'manykube start' removes the Node "
			    "object of '%s'",
			    name);
	if (!ctx->quiet || events_on_stdout())
		say_done("Node %s was successfully deleted.", name);
	return 0;
}

static int run(struct command_context *ctx, struct error *err)
{
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	const char *name;
	int r = node_choose(ctx, NODE_CHOICE_NAMED, &names, err);

	if (r == 0)
		r = lost_pods_confirm(ctx->profile, &names, arg.yes || arg.force, err);
	strlist_for_each(name, &names)
		if (r == 0)
			r = delete_one(ctx, name, err);
	return r;
}

const struct command cmd_node_delete = {
	.name = "delete",
	.elsewhere = "rm|remove|destroy",
	.operands = "NAME...",
	.summary = "remove nodes from the cluster, with all their data",
	.description =
		"Drains the node as far as possible, then removes its Node object and all its "
		"data. Pods without a controller are lost, and so are the contents of emptyDir "
		"volumes and of persistent volumes that are on the node, such as those of the "
		"default storage class; the command names these pods and persistent volumes first "
		"and, on a terminal, asks, unless --yes or --force is given. Broken and incomplete nodes can be deleted, too, even "
		"while the API is down.",
	.examples = "manykube node delete node-3\n"
		    "manykube node delete node-3 --force\n",
	.min_operands = 1,
	.max_operands = 1000,
	.complete = COMPLETE_NODE,
	.flags = COMMAND_CHANGES_NODES,
	.interrupted = INTERRUPTED,
	.options = options,
	.events = &arg.output,
	.run = run,
};

const struct command cmd_worker_delete = {
	.name = "delete",
	.elsewhere = "rm|remove|destroy",
	.operands = "NAME...",
	.summary = "remove workers from the cluster, with all their data",
	.description =
		"Drains the worker as far as possible, then removes its Node object and all its "
		"data. Pods without a controller are lost, and so are the contents of emptyDir "
		"volumes and of persistent volumes that are on the node, such as those of the "
		"default storage class; the command names these pods and persistent volumes first "
		"and, on a terminal, asks, unless --yes or --force is given. Broken and incomplete workers can be deleted, too, "
		"even while the API is down.",
	.examples = "manykube worker delete node-3\n",
	.min_operands = 1,
	.max_operands = 1000,
	.complete = COMPLETE_NODE,
	.flags = COMMAND_CHANGES_NODES | COMMAND_WORKERS,
	.interrupted = INTERRUPTED,
	.options = worker_options,
	.events = &arg.output,
	.run = run,
};
