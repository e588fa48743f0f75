/* `apply`: change a cluster to match a file. */

#include "cluster/apply.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "cli/events.h"
#include "cli/progress.h"
#include "cli/say.h"
#include "cmd/apply-print.h"
#include "cmd/lost-pods.h"
#include "cmd/node-change.h"
#include "cmd/start-options.h"
#include "kubeadm/drain.h"
#include "plan/apply-look.h"
#include "plan/check.h"
#include "record/options.h"
#include "record/setting-check.h"

/* Exit status of --dry-run if there is something to do. */
#define EXIT_WORK 2

static struct {
	struct apply_options how;
	struct start_arguments made; /* of a cluster that does not exist yet */
	bool dry_run;
	bool yes;
	const char *output;
} arg = {
	.made.wait = "apiserver,node_ready",
	.how.drain_seconds = DRAIN_DELETE_SECONDS,
	.how.wait_seconds = 360,
	.output = "text",
};

static const struct opt options[] = {
	OPT_STRING('f', "file", &arg.made.file, "FILE",
		   "the file that describes the cluster; - reads standard input", .once = true,
		   .complete = COMPLETE_FILE),
	OPT_FLAG(0, "dry-run", &arg.dry_run,
		 "only print what would be done; the exit status is 2 if there is anything to "
		 "do",
		 .once = true),
	OPT_FLAG(0, "prune", &arg.how.prune, "delete nodes that are not in the file", .once = true),
	OPT_FLAG('y', "yes", &arg.yes,
		 "do not ask before restarting or deleting nodes, or building Kubernetes from "
		 "source",
		 .once = true),
	OPT_SECONDS(0, "wait-timeout", &arg.how.wait_seconds,
		    "how long to wait for the cluster after each start", .once = true),
	OPT_SECONDS(0, "drain-timeout", &arg.how.drain_seconds,
		    "how long draining a node may take; the command then continues anyway",
		    .once = true),
	OPT_STRING(0, "binary-mirror", &arg.how.binary_mirror, "URL",
		   "download Kubernetes from this mirror", .beyond_user = setting_is_beyond_user),
	OPT_FLAG(0, "force", &arg.how.force, "continue although this host fails a check",
		 .once = true),
	OPT_CHOICE('o', "output", &arg.output, "text|json",
		   "output format; json prints the plan of --dry-run, or one event per line",
		   .once = true),
	OPT_END,
};

/* Check that every node gets enough memory, from its own setting or the defaults. */
static int check_sizes(const struct cluster_file *file, struct error *err)
{
	cleanup_free struct node_options *nodes = xcalloc(file->node_count + 1, sizeof(*nodes));
	struct cluster_options wanted = { .add = nodes,
					  .add_count = file->node_count,
					  .force = arg.how.force };

	for (size_t i = 0; i < file->node_count; i++) {
		nodes[i] = file->nodes[i];
		if (!nodes[i].memory_bytes)
			nodes[i].memory_bytes = file->options.memory_bytes;
	}
	return node_check_size(&wanted, err);
}

static void show_plan(const struct command_context *ctx, bool exists, const struct apply_plan *plan)
{
	const char *source = ctx->file->source;

	if (arg.dry_run && strcmp(arg.output, "json") == 0) {
		apply_print_json(ctx->profile_name, source, exists, plan, arg.how.prune);
		return;
	}
	if (apply_has_work(plan, arg.how.prune))
		apply_print_plan(ctx->profile_name, plan, arg.how.prune);
	for (size_t i = 0; i < plan->count && !arg.how.prune; i++)
		if (plan->steps[i].action == APPLY_DELETE)
			log_warning("node '%s' is not in '%s' and is kept; --prune deletes it",
				    plan->steps[i].node, source);
}

/* Warn of pods that are lost for good when their node is deleted or recreated. */
static void announce_losses(const struct profile *profile, const struct apply_plan *plan)
{
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;

	for (size_t i = 0; i < plan->count; i++)
		if (plan->steps[i].action == APPLY_REPLACE ||
		    (plan->steps[i].action == APPLY_DELETE && arg.how.prune))
			strlist_add(&names, plan->steps[i].node);
	(void)lost_pods_announce(profile, &names);
}

/* Disturb nothing without confirmation. */
static int ask_before_apply(const struct apply_plan *plan, struct error *err)
{
	cleanup_free char *names = apply_disturbed(plan, arg.how.prune);

	if (!names || arg.yes)
		return 0;
	if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO) || events_on_stdout()) {
		(void)error_because(err, &reason_usage, -EPERM,
				    "this would disturb pods on %s, and there is no terminal to "
				    "ask on; nothing was done",
				    names);
		return error_hint(err, -EPERM, "use --yes to confirm");
	}
	fprintf(stderr, "This disturbs pods on %s. ", names);
	if (say_go_on())
		return 0;
	(void)error_because(err, &reason_interrupted, -ECANCELED,
			    "not confirmed; nothing was done");
	return error_hint(err, -ECANCELED, "answer y, or use --yes");
}

/* The cluster does not exist yet. */
static int make(struct command_context *ctx, struct error *err)
{
	cleanup_with(apply_plan_release) struct apply_plan plan = APPLY_PLAN_INIT;
	cleanup_with(plan_release) struct plan made = PLAN_INIT;
	int r;

	arg.made.wanted.wait_seconds = arg.how.wait_seconds;
	arg.made.wanted.force = arg.how.force;
	arg.made.wanted.binary_mirror = arg.how.binary_mirror;
	r = start_settle(ctx, &arg.made, err);
	if (r == 0)
		r = (arg.dry_run ? cluster_rehearse : cluster_plan)(ctx->profile_name,
								    &arg.made.wanted, &made, err);
	if (r < 0)
		return r;
	apply_plan_make_new(ctx->file, &plan);
	if (!ctx->quiet || arg.dry_run)
		show_plan(ctx, false, &plan);
	return arg.dry_run ? EXIT_WORK : start_go(ctx, &arg.made, err);
}

static void say_result(const struct command_context *ctx, const struct apply_plan *plan)
{
	bool more = apply_plan_has(plan, APPLY_DELETE) && !arg.how.prune;

	say_done("%s cluster \"%s\" matches '%s'%s.",
		 apply_has_work(plan, arg.how.prune) && !arg.dry_run ? "Done:" : "Nothing to do:",
		 ctx->profile_name, ctx->file->source, more ? ", but has more nodes" : "");
}

static int carry_out(struct command_context *ctx, const struct apply_plan *plan, struct error *err)
{
	static const struct strlist nobody;
	cleanup_with(progress_freep) struct progress *progress = progress_new(ctx->quiet,
									      log_verbosity);
	int r = apply_carry_out(ctx->profile_name, ctx->file, plan, &arg.how,
				progress_observer(progress), err);

	progress_free(take_ptr(progress));
	if (r == 0 && (!ctx->quiet || events_on_stdout()))
		say_result(ctx, plan);
	if (r == 0 && !ctx->quiet)
		node_mention_unready_now(ctx->profile_name, &nobody);
	return r;
}

static int run(struct command_context *ctx, struct error *err)
{
	cleanup_with(apply_plan_release) struct apply_plan plan = APPLY_PLAN_INIT;
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	bool has_work;
	int r;

	if (!ctx->file) {
		(void)error_because(err, &reason_usage, -EINVAL, "no file given");
		return error_hint(
			err, -EINVAL,
			"use -f FILE; 'manykube config view' prints an existing cluster as a "
			"file, 'manykube config init' prints a template");
	}
	progress_assume_yes = arg.yes;
	/* Then stdout has only the plan. */
	if (arg.dry_run)
		events_begin("apply", false);
	r = profile_load(ctx->profile_name, &profile, err);
	if (r == -ENOENT) {
		error_clear(err);
		return make(ctx, err);
	}
	if (r == 0)
		r = check_sizes(ctx->file, err);
	if (r < 0)
		return r;
	apply_look(&profile, ctx->file, &plan);
	has_work = apply_has_work(&plan, arg.how.prune);
	if (!ctx->quiet || arg.dry_run || !arg.yes)
		show_plan(ctx, true, &plan);
	r = apply_check(&profile, ctx->file, &plan, arg.how.prune, err);
	if (r < 0)
		return r;
	announce_losses(&profile, &plan);
	if (arg.dry_run && !has_work && strcmp(arg.output, "text") == 0)
		say_result(ctx, &plan);
	if (arg.dry_run)
		return has_work ? EXIT_WORK : 0;
	r = ask_before_apply(&plan, err);
	return r < 0 ? r : carry_out(ctx, &plan, err);
}

const struct command cmd_apply = {
	.name = "apply",
	.elsewhere = "update|sync|reconcile",
	.summary = "change a cluster to match a file",
	.description =
		"Compares the cluster with the file, prints a plan and carries it out. Nodes are "
		"added, started or changed. If nodes must be restarted or recreated, the command "
		"asks first (unless --yes is given) and does it one node at a time, so that "
		"control planes are never all down at once. With --prune, nodes that are not in "
		"the file are deleted. Fields that are not in the file get their defaults, except "
		"for the version and for addresses and ports that were chosen automatically; "
		"settings and environment are ignored. A cluster that does not exist is created, "
		"and nodes that are down are started. If a change is impossible, or there is no "
		"terminal to ask on, nothing is done. The command may be interrupted and run "
		"again at any time.",
	.examples = "manykube apply -f cluster.yaml\n"
		    "manykube apply -f cluster.yaml --dry-run\n"
		    "manykube apply -f cluster.yaml --prune --yes\n"
		    "manykube config view | sed s/2g/4g/ | manykube apply -f - --yes\n",
	.interrupted = "run the same command again to continue",
	.flags = COMMAND_LOCKS_CLUSTER | COMMAND_WAITS | COMMAND_NEEDS_ROOT | COMMAND_AUDITED,
	.options = options,
	.events = &arg.output,
	.wanted = &arg.made.wanted,
	.run = run,
};
