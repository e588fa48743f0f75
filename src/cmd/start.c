/* `start`: create, start or repair a cluster. */

#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/advice.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/log.h"
#include "cli/events.h"
#include "cli/progress.h"
#include "cli/say.h"
#include "cluster/cluster.h"
#include "cmd/command.h"
#include "cmd/minikube.h"
#include "cmd/node-change.h"
#include "cmd/start-options.h"
#include "image/room.h"
#include "kubeconfig/context.h"
#include "look/defects.h"
#include "probe/probe.h"
#include "record/limits.h"
#include "record/options.h"

/* How long parts of a started cluster may take to answer. */
#define ANSWER_SECONDS 5

/* Whether the cluster is healthy, as `status` would say; RET_DEFECTS lists the problems. New nodes
 * that are not Ready are no problem if the user chose not to wait for them. */
static bool look_at_result(const struct profile *profile, bool did_something,
			   struct strlist *ret_defects)
{
	bool waited = start_arguments.wanted.wait & (WAIT_NODES | WAIT_READY);

	if (did_something && !waited)
		return true;
	return defects_find(profile, waited ? ANSWER_SECONDS : 0, ret_defects);
}

static void report(const char *name, const struct cluster_outcome *outcome)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_with(strlist_release) struct strlist defects = STRLIST_INIT;
	cleanup_free char *get_nodes = advice_command("manykube kubectl -- get nodes");
	bool did_something = outcome->started > 0 || outcome->joined > 0 || outcome->repaired > 0;
	const char *defect;
	bool is_well;

	if (profile_load(name, &profile, NULL) < 0)
		return;
	is_well = look_at_result(&profile, did_something, &defects);
	say_done("%s \"%s\" with %zu %s is %s%s; kubectl %s.",
		 did_something ? "Done: cluster" : "Cluster", name, profile.node_count,
		 profile.node_count == 1 ? "node" : "nodes",
		 did_something ? "up"
		 : is_well     ? "running and healthy"
			       : "running",
		 defects.count > 0 ? ", but has problems" : "",
		 profile.keep_context ? "has a context of that name" : "is set to use it");
	strlist_for_each(defect, &defects)
		log_warning("%s", defect);
	if (profile.upgrading_from)
		log_warning(
			"its upgrade from Kubernetes %s to %s is not finished: 'manykube upgrade' "
			"continues it",
			profile.upgrading_from, profile.kubernetes_version);
	if (profile.network_from)
		log_warning("the change of its pod network is not finished: 'manykube network set' "
			    "continues it");
	node_mention_unready(&profile, NULL);
	if (!events_on_stdout())
		fprintf(stderr, "Try: %s\n", get_nodes);
}

/* Programs may read the events of a start while it runs, or afterwards. */
static void record_events(const char *name)
{
	cleanup_free char *dir = NULL;

	if (profile_dir(name, &dir, NULL) == 0)
		events_record(dir);
}

/* 'manykube profile list' could not select a cluster named 'list'. */
static int check_name(const char *name, struct error *err)
{
	const struct command *const *sub = cmd_profile.subcommands;
	cleanup_free char *dir = NULL;

	while (*sub && strcmp((*sub)->name, name) != 0)
		sub++;
	if ((!*sub && strcmp(name, "help") != 0) || profile_dir(name, &dir, NULL) < 0 ||
	    file_exists(dir))
		return 0;
	error_because(err, &reason_usage, -EINVAL,
		      "a cluster cannot be named '%s': 'manykube profile %s' is a command", name,
		      name);
	return error_hint(err, -EINVAL, "choose another name with -p");
}

/* The images of the nodes are where the clusters are. */
static void warn_of_scarce_room(void)
{
	cleanup_free char *path = NULL;
	struct statvfs status;

	if (probe_state_dir(&path, NULL) < 0 || statvfs(path, &status) < 0 ||
	    !room_is_scarce(&status))
		return;
	log_warning("%llu MiB are free on the disk of '%s', and images may not take the last %llu "
		    "MiB: free some space there before you load, pull or build images",
		    (unsigned long long)status.f_bavail * status.f_frsize >> 20, path,
		    (unsigned long long)room_reserve(&status) >> 20);
}

static int run_start(const char *name, const struct start_arguments *arguments,
		     struct observer *observer, struct cluster_outcome *ret_outcome,
		     struct error *err)
{
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	int r;

	r = context_check(err);
	if (r < 0)
		return r;
	if (probe_raise_inotify(&why) < 0)
		log_warning("%s; do this yourself: %s", why.text, why.hint);
	warn_of_scarce_room();
	record_events(name);
	r = cluster_start(name, &arguments->wanted, observer, ret_outcome, err);
	if (r < 0 && arguments->delete_on_failure)
		start_undo(name, ret_outcome, observer, r, err);
	return r;
}

int start_settle(struct command_context *ctx, struct start_arguments *arguments, struct error *err)
{
	int r = check_name(ctx->profile_name, err);

	if (r == 0)
		r = start_settle_file(ctx, arguments, err);
	if (r == 0)
		r = start_arguments_check(arguments, err);
	return r < 0 ? r : start_arguments_finish(arguments, err);
}

int start_go(struct command_context *ctx, const struct start_arguments *arguments,
	     struct error *err)
{
	cleanup_with(progress_freep) struct progress *progress = progress_new(ctx->quiet,
									      log_verbosity);
	struct cluster_outcome outcome;
	int r = run_start(ctx->profile_name, arguments, progress_observer(progress), &outcome, err);

	progress_free(take_ptr(progress));
	if (r == 0 && (!ctx->quiet || events_on_stdout()))
		report(ctx->profile_name, &outcome);
	return r;
}

/* A program that asked for JSON must not be given sentences. */
static int refuse_plan_as_json(struct error *err)
{
	(void)error_because(err, &reason_usage, -EINVAL,
			    "--dry-run of 'manykube start' prints text only, not JSON");
	return error_hint(err, -EINVAL,
			  "omit -o json, or use 'manykube apply -f FILE --dry-run -o json'");
}

static int run(struct command_context *ctx, struct error *err)
{
	const struct cluster_options *wanted = &start_arguments.wanted;
	int r = start_settle(ctx, &start_arguments, err);

	if (r < 0)
		return r;
	if (start_arguments.dry_run && events_on_stdout())
		return refuse_plan_as_json(err);
	if (start_arguments.dry_run)
		return start_print_plan(ctx->profile_name, wanted, err);
	if (start_arguments.download_only)
		return start_download(ctx->quiet, wanted, err);
	return start_go(ctx, &start_arguments, err);
}

const struct command cmd_start = {
	.name = "start",
	.elsewhere = "create|up|run|init|restart",
	.summary = "create a cluster, or start an existing one",
	.description =
		"Creates a Kubernetes cluster of --nodes nodes, --control-planes of them control "
		"planes, or starts the nodes of an existing cluster that are down, with the same "
		"addresses and data. The command may be interrupted and run again at any time; it "
		"never resets a cluster. On an existing cluster, --ports, --registry-mirror, "
		"--insecure-registry and --load-images add to what it has; other lists can only "
		"be given when the cluster is created. Use 'node set' to change labels and "
		"taints, and 'apply' to replace or remove settings. A file can describe the whole "
		"cluster: 'manykube config init' prints a template, 'manykube config explain' "
		"lists the fields, and kind's files are accepted as well. Options override the "
		"file (mappings such as extraConfig key by key); the file overrides the "
		"environment and the settings.",
	.examples = "manykube start --nodes=3\n"
		    "manykube start --control-planes=3 --nodes=5\n"
		    "manykube start -p dev --nodes=2 --memory=2g --cpus=1\n"
		    "manykube start -f cluster.yaml\n"
		    "manykube start --download-only\n",
	.flags = COMMAND_LOCKS_CLUSTER | COMMAND_WAITS | COMMAND_NEEDS_ROOT | COMMAND_AUDITED,
	.no_lock = &start_arguments.download_only,
	.options = start_options,
	.absent = minikube_start_options,
	.events = &start_arguments.output,
	.wanted = &start_arguments.wanted,
	.run = run,
};
