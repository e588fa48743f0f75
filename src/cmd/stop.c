/* `stop`: shut a cluster down and keep its data. */

#include <string.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "cli/events.h"
#include "cli/progress.h"
#include "cli/say.h"
#include "cluster/cluster.h"
#include "cmd/command.h"
#include "cmd/every.h"
#include "cmd/interrupt.h"
#include "cmd/minikube.h"
#include "home/migrate.h"
#include "record/old-home.h"

static struct {
	bool all;
	bool keep_context;
	const char *output;
} arg = {
	.output = "text",
};

static const struct opt options[] = {
	OPT_FLAG(0, "all", &arg.all, "stop all clusters", .once = true),
	OPT_FLAG(0, "keep-context-active", &arg.keep_context, "keep the cluster in your kubeconfig",
		 .once = true),
	OPT_EVENTS(&arg.output),
	OPT_END,
};

static int stop_one(const char *name, bool quiet, struct error *err)
{
	cleanup_with(progress_freep) struct progress *progress = NULL;
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	cleanup_fd int lock = -1;
	int r;

	interrupt_explain("nothing is lost: run the same command again to stop the rest, or "
			  "'manykube start' to start all again");
	r = profile_load(name, &profile, err);
	if (r == 0)
		r = profile_lock(name, "manykube stop", &lock, err);
	if (r < 0)
		return r;
	profile_release(&profile);
	r = profile_load(name, &profile, err);
	if (r < 0)
		return r;
	progress = progress_new(quiet, log_verbosity);
	r = cluster_stop(&profile, arg.keep_context, progress_observer(progress), err);
	progress_free(take_ptr(progress));
	if (r == 0 && (!quiet || events_on_stdout()))
		say_done("Cluster \"%s\" is not running.", name);
	if (r > 0 && (!quiet || events_on_stdout()))
		say_done(
			"Stopped cluster \"%s\" with %zu %s; 'manykube start' brings it back as it was.",
			name, profile.node_count, profile.node_count == 1 ? "node" : "nodes");
	if (r < 0)
		return r;
	events_forget(profile.dir);
	/* It is stopped, even if it cannot be moved. */
	if (migrate_cluster(name, &why) < 0)
		log_warning("%s", why.text);
	return 0;
}

static int run(struct command_context *ctx, struct error *err)
{
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	int r;

	if (!arg.all)
		return stop_one(ctx->profile_name, ctx->quiet, err);
	r = profile_list(&names, err);
	if (r < 0)
		return r;
	if (names.count == 0 && !ctx->quiet)
		say_done("There is no cluster to stop.");
	return every_cluster(&names, "stopped", stop_one, ctx->quiet, err);
}

const struct command cmd_stop = {
	.name = "stop",
	.summary = "shut a cluster down and keep its data",
	.description = "Stops the workers first, then the control planes. 'start' brings the "
		       "cluster back with the same nodes, addresses and data.",
	.examples = "manykube stop\n"
		    "manykube stop --all\n",
	/* It locks the clusters that it stops by itself; they need not be the cluster of -p. */
	.flags = COMMAND_NEEDS_ROOT | COMMAND_AUDITED,
	.options = options,
	.absent = minikube_stop_options,
	.events = &arg.output,
	.run = run,
};
