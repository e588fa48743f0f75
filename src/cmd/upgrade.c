/* `upgrade`: upgrade a cluster to a newer Kubernetes version. */

#include "cluster/upgrade.h"

#include <stdio.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "cli/events.h"
#include "cli/progress.h"
#include "cli/say.h"
#include "cmd/interrupt.h"
#include "cmd/node-change.h"
#include "record/setting-check.h"

static struct {
	const char *version;
	bool dry_run;
	struct upgrade_options wanted;
	const char *output;
} arg = {
	.wanted.drain = true,
	.wanted.drain_seconds = 60,
	.wanted.wait_seconds = 360,
	.output = "text",
};

static const struct opt options[] = {
	OPT_STRING(0, "kubernetes-version", &arg.version, "VERSION",
		   "version to upgrade to, for instance v1.36 (default: the newest)", .once = true,
		   .complete = COMPLETE_VERSION),
	OPT_FLAG(0, "drain", &arg.wanted.drain,
		 "first move pods that have a controller to other nodes"),
	OPT_SECONDS(0, "drain-timeout", &arg.wanted.drain_seconds,
		    "how long draining a node may take; pods that are still there then restart "
		    "with it"),
	OPT_SECONDS(0, "wait-timeout", &arg.wanted.wait_seconds, "how long to wait for each node"),
	OPT_STRING(0, "binary-mirror", &arg.wanted.binary_mirror, "URL",
		   "download Kubernetes from this mirror", .beyond_user = setting_is_beyond_user),
	OPT_YES,
	OPT_FLAG(0, "dry-run", &arg.dry_run, "only print what would be done", .once = true),
	OPT_EVENTS(&arg.output),
	OPT_END,
};

static void print_plan(const struct profile *profile, const struct upgrade_plan *plan)
{
	const struct node *node;

	printf("Cluster \"%s\" would %s from Kubernetes %s to %s.\n", profile->name,
	       plan->is_begun ? "continue its upgrade" : "be upgraded", plan->from, plan->to);
	profile_for_each_node(node, profile)
		printf("Node %s: %s, %s\n", node->name,
		       node->control_plane ? "control plane" : "worker",
		       upgrade_is_due(profile, node, plan->to) ? "would be upgraded and restarted"
							       : "already has that version");
	printf("Nothing was changed.\n");
}

static int upgrade(struct command_context *ctx, struct error *err)
{
	cleanup_with(progress_freep) struct progress *progress = progress_new(ctx->quiet,
									      log_verbosity);
	struct observer *observer = progress_observer(progress);

	interrupt_explain_drain("run the same command again to continue", observer);
	return cluster_upgrade(ctx->profile, &arg.wanted, observer, err);
}

static int run(struct command_context *ctx, struct error *err)
{
	cleanup_with(upgrade_plan_release) struct upgrade_plan plan = UPGRADE_PLAN_INIT;
	int r = arg.version ? payload_resolve_version(arg.version, &arg.wanted.version, err) : 0;

	if (r == 0)
		r = upgrade_plan(ctx->profile, arg.wanted.version, &plan, err);
	if (r < 0)
		return r;
	if (arg.dry_run && !plan.is_done) {
		print_plan(ctx->profile, &plan);
		return 0;
	}
	if (!plan.is_done)
		r = upgrade(ctx, err);
	if (r == 0 && (!ctx->quiet || events_on_stdout()))
		say_done(plan.is_done ? "Cluster \"%s\" already has Kubernetes %s."
				      : "Done: cluster \"%s\" now has Kubernetes %s.",
			 ctx->profile_name, plan.to);
	if (r == 0 && !plan.is_done && !ctx->quiet)
		node_mention_unready_now(ctx->profile_name, NULL);
	return r;
}

const struct command cmd_upgrade = {
	.name = "upgrade",
	.elsewhere = "update",
	.summary = "upgrade a cluster to a newer Kubernetes version",
	.description =
		"Upgrades the control planes one after another, then the workers: each node is "
		"drained and restarted with the new version. A cluster can be upgraded to a newer "
		"release of its minor version or to the next minor version; minor versions can't "
		"be skipped, and there is no downgrade. Nodes that are stopped are started. An "
		"interrupted upgrade continues when the command is run again; until then, 'start' "
		"starts the cluster partly upgraded. Pods without a controller are not moved: "
		"they stop and start with their node. Moved pods lose the contents of their "
		"emptyDir volumes; --drain=false keeps them.",
	.examples = "manykube upgrade\n"
		    "manykube upgrade --kubernetes-version=v1.36 --dry-run\n"
		    "manykube upgrade --drain=false\n",
	.flags = COMMAND_CHANGES_NODES,
	.options = options,
	.events = &arg.output,
	.run = run,
};
