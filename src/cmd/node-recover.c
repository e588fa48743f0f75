/* `node recover`: continue with one control plane after most were lost. */

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/advice.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "cli/progress.h"
#include "cli/say.h"
#include "cluster/cluster.h"
#include "cmd/node-change.h"
#include "kubeadm/members.h"

static struct {
	bool yes;
	unsigned seconds;
} arg = {
	.seconds = 180,
};

static const struct opt options[] = {
	OPT_FLAG('y', "yes", &arg.yes, "do not ask for confirmation", .once = true),
	OPT_SECONDS(0, "wait-timeout", &arg.seconds, "how long to wait for the API, twice"),
	OPT_END,
};

/* The other control planes, for messages: "node-1, node-3". */
static char *others_of(const struct profile *profile, const struct node *survivor)
{
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	const struct node *node;

	profile_for_each_node(node, profile)
		if (node->control_plane && node != survivor)
			strlist_add(&names, node->name);
	return strlist_join(&names, ", ");
}

static int ask_before_recover(const struct profile *profile, const struct node *survivor,
			      struct error *err)
{
	struct members_tally tally = members_tally(profile, NULL);
	cleanup_free char *others = others_of(profile, survivor);
	cleanup_free char *text = NULL;
	cleanup_free char *complete = NULL;

	text = xasprintf(
		"%u of %u etcd members run, and %u are needed.\n'%s' would continue as the only "
		"member with its own data; data that only others (%s) have is lost.\nIts pods are "
		"restarted. 'manykube start' lets the others join again, without their etcd "
		"data.\n",
		tally.running, tally.count, members_majority(tally.count), survivor->name,
		*others ? others : "none is left");
	complete = advice_complete(text);
	(void)fputs(complete, stderr);
	if (arg.yes)
		return 0;
	if (!isatty(STDIN_FILENO)) {
		(void)error_because(err, &reason_usage, -EINVAL, "there is no terminal to ask on");
		return error_hint(err, -EINVAL, "use --yes to continue");
	}
	if (say_go_on())
		return 0;
	return error_because(err, &reason_interrupted, -ECANCELED,
			     "not confirmed; nothing was changed");
}

static int run(struct command_context *ctx, struct error *err)
{
	cleanup_with(progress_freep) struct progress *progress = NULL;
	struct node *survivor;
	int r = cluster_choose_survivor(ctx->profile, ctx->argc > 0 ? ctx->argv[0] : NULL,
					&survivor, err);

	if (r == 0)
		r = ask_before_recover(ctx->profile, survivor, err);
	if (r < 0)
		return r;
	progress = progress_new(ctx->quiet, log_verbosity);
	r = cluster_recover(ctx->profile, survivor, arg.seconds, progress_observer(progress), err);
	progress_free(take_ptr(progress));
	if (r == 0 && !ctx->quiet)
		say_done("The API is up again, with '%s' alone; 'manykube start' lets the other "
			 "control planes join.",
			 survivor->name);
	return r;
}

const struct command cmd_node_recover = {
	.name = "recover",
	.operands = "[NAME]",
	.summary = "continue with one control plane after most were lost",
	.description =
		"For a cluster that has permanently lost the majority of its control planes, so "
		"that 'start' cannot restore it. The given control plane, or the first one that "
		"runs, becomes the only etcd member, with its own data. The others can be "
		"deleted; otherwise they join again at the next 'start'.",
	.examples = "manykube node recover\n"
		    "manykube node recover node-2 --yes\n",
	.max_operands = 1,
	.complete = COMPLETE_NODE,
	.flags = COMMAND_CHANGES_NODES,
	.options = options,
	.run = run,
};
