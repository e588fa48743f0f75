/* `stop`: shut a cluster down; it keeps everything. */

#include <string.h>

#include "balancer/balancer.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "cli/events.h"
#include "cli/progress.h"
#include "cli/say.h"
#include "cluster/cluster.h"
#include "cluster/context.h"
#include "cmd/command.h"
#include "cmd/interrupt.h"

static struct {
	bool all;
	bool keep_context;
	const char *output;
} arg = {
	.output = "text",
};

static const struct opt options[] = {
	OPT_FLAG(0, "all", &arg.all, "stop every cluster", .once = true),
	OPT_FLAG(0, "keep-context-active", &arg.keep_context,
		 "leave the cluster in your kubeconfig", .once = true),
	OPT_CHOICE('o', "output", &arg.output, "text|json",
		   "progress for people, or an event per line on stdout for programs"),
	OPT_END,
};

static bool anybody_runs(const struct profile *profile)
{
	const struct node *node;

	profile_for_each_node(node, profile) {
		cleanup_with(cluster_node_release) struct cluster_node at = CLUSTER_NODE_INIT;

		/* What can't be looked at may well run. */
		if (cluster_node_open(profile, node, &at, NULL) < 0 ||
		    at.driver->query(&at.spec) == NODE_RUNNING)
			return true;
	}
	return balancer_pid(profile->folder) > 0;
}

static int stop_one(const char *name, bool quiet, struct error *err)
{
	cleanup_with(progress_freep) struct progress *progress = NULL;
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_fd int lock = -1;
	int r;

	interrupt_explain(name, NULL);
	r = profile_load(name, &profile, err);
	if (r == 0)
		r = profile_lock(name, "manykube stop", &lock, err);
	if (r < 0)
		return r;
	profile_release(&profile);
	r = profile_load(name, &profile, err);
	if (r < 0)
		return r;
	if (!anybody_runs(&profile)) {
		if (!quiet || events_on_stdout())
			say_done("Cluster \"%s\" does not run.", name);
		return 0;
	}
	progress = progress_new(quiet, log_verbosity);
	r = cluster_stop(&profile, NULL, progress_observer(progress), err);
	if (r == 0 && !arg.keep_context)
		r = context_remove(name, err);
	progress_free(take_ptr(progress));
	if (r == 0 && (!quiet || events_on_stdout()))
		say_done("Stopped cluster \"%s\" with %zu %s; 'manykube start%s%s' brings it back "
			 "as it was.",
			 name, profile.node_count, profile.node_count == 1 ? "node" : "nodes",
			 strcmp(name, PROFILE_DEFAULT_NAME) == 0 ? "" : " -p ",
			 strcmp(name, PROFILE_DEFAULT_NAME) == 0 ? "" : name);
	return r;
}

static int run(struct command_context *ctx, struct error *err)
{
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	const char *name;
	int result = 0;
	int r;

	if (!arg.all)
		return stop_one(ctx->profile_name, ctx->quiet, err);
	r = profile_list(&names, err);
	if (r < 0)
		return r;
	/* One that can't be stopped keeps none of the others. */
	strlist_for_each(name, &names) {
		cleanup_with(error_clear) struct error why = ERROR_INIT;

		r = stop_one(name, ctx->quiet, &why);
		if (r == 0)
			continue;
		log_warning("cluster '%s' was not stopped: %s", name, why.text);
		if (result == 0)
			error_because(err, why.reason, r, "not all clusters could be stopped");
		result = result < 0 ? result : r;
	}
	if (names.count == 0 && !ctx->quiet)
		say_done("There is no cluster to stop.");
	return result;
}

const struct command cmd_stop = {
	.name = "stop",
	.summary = "shut a cluster down, keeping everything",
	.description = "Workers end first, control planes last, each in order. 'start' brings the "
		       "cluster back: same nodes, same addresses, same data.",
	.examples = "manykube stop\n"
		    "manykube stop --all\n",
	/* It locks what it stops, which need not be the cluster of -p, by itself. */
	.flags = COMMAND_NEEDS_ROOT | COMMAND_AUDITED,
	.options = options,
	.events = &arg.output,
	.run = run,
};
