/* `node stop`: shut nodes down and keep their data. */

#include "base/cleanup.h"
#include "base/log.h"
#include "cli/events.h"
#include "cli/progress.h"
#include "cli/say.h"
#include "cluster/cluster.h"
#include "cmd/interrupt.h"
#include "cmd/node-change.h"
#include "kubeadm/drain.h"

static struct {
	bool all;
	bool drain;
	bool keep_member;
	unsigned drain_seconds;
	const char *output;
} arg = {
	.drain_seconds = 60,
	.output = "text",
};

/* For workers, too. */
#define OPTIONS                                                                                    \
	OPT_FLAG(0, "all", &arg.all, "stop all workers of the cluster", .once = true),             \
		OPT_FLAG(0, "drain", &arg.drain,                                                   \
			 "first move pods that have a controller to other nodes"),                 \
		OPT_SECONDS(0, "drain-timeout", &arg.drain_seconds, "how long draining may take"), \
		OPT_EVENTS(&arg.output)

static const struct opt options[] = {
	OPTIONS,
	OPT_FLAG(0, "keep-member", &arg.keep_member,
		 "keep a control plane's etcd member, if the others have a majority"),
	OPT_END,
};

static const struct opt worker_options[] = { OPTIONS, OPT_END };

static int run(struct command_context *ctx, struct error *err)
{
	cleanup_with(progress_freep) struct progress *progress = NULL;
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	cleanup_free char *shown = NULL;
	cleanup_free char *words = NULL;
	int r = node_choose(ctx, arg.all ? NODE_CHOICE_WORKERS : NODE_CHOICE_NAMED, &names, err);

	if (r < 0)
		return r;
	progress = progress_new(ctx->quiet, log_verbosity);
	if (arg.drain)
		interrupt_explain_drain(
			"run the same command again to stop the rest, or 'manykube start' to let "
			"all nodes run and get pods again",
			progress_observer(progress));
	if (arg.drain)
		r = drain_nodes(ctx->profile, &names, DRAIN_CONTROLLED, arg.drain_seconds,
				progress_observer(progress), err);
	if (r == 0)
		r = cluster_leave_to_stop(ctx->profile, &names, arg.keep_member,
					  progress_observer(progress), err);
	if (r == 0)
		r = cluster_stop_nodes(ctx->profile, &names, progress_observer(progress), err);
	progress_free(take_ptr(progress));
	shown = strlist_join(&names, ", ");
	words = strlist_join(&names, " ");
	if (r == 0 && (!ctx->quiet || events_on_stdout()))
		say_done("%s %s not running.", shown, names.count == 1 ? "is" : "are");
	if (r > 0 && (!ctx->quiet || events_on_stdout()))
		say_done("Successfully stopped %s %s; 'manykube node start %s' brings %s back.",
			 names.count == 1 ? "node" : "nodes", shown, words,
			 names.count == 1 ? "it" : "them");
	return MIN(r, 0);
}

const struct command cmd_node_stop = {
	.name = "stop",
	.operands = "NAME...",
	.summary = "shut nodes down and keep their data",
	.description =
		"The nodes keep their Node objects, podCIDRs, addresses and data. A control plane "
		"leaves etcd, so that the others keep a majority, and joins again at 'node "
		"start'. The last control plane stays a member; the API is down until it is "
		"started. Pods stop and start with their node; after five minutes, Kubernetes "
		"deletes them, and controllers create new ones elsewhere. --drain moves pods that "
		"have a controller beforehand; they lose the contents of emptyDir volumes. Pods "
		"are not scheduled on a drained node until it is started.",
	.examples = "manykube node stop node-2\n"
		    "manykube node stop node-2 --drain\n"
		    "manykube node stop node-3 --keep-member\n",
	.max_operands = 1000,
	.complete = COMPLETE_NODE,
	.flags = COMMAND_CHANGES_NODES,
	.options = options,
	.events = &arg.output,
	.run = run,
};

const struct command cmd_worker_stop = {
	.name = "stop",
	.operands = "NAME...",
	.summary = "shut workers down and keep their data",
	.description =
		"The nodes keep their Node objects, podCIDRs, addresses and data. Pods stop and "
		"start with their node; after five minutes, Kubernetes deletes them, and "
		"controllers create new ones elsewhere. --drain moves pods that have a controller "
		"beforehand; they lose the contents of emptyDir volumes. Pods are not scheduled "
		"on a drained worker until it is started.",
	.examples = "manykube worker stop node-2\n"
		    "manykube worker stop node-2 --drain\n",
	.max_operands = 1000,
	.complete = COMPLETE_NODE,
	.flags = COMMAND_CHANGES_NODES | COMMAND_WORKERS,
	.options = worker_options,
	.events = &arg.output,
	.run = run,
};
