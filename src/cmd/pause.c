/* `pause`, `unpause`, and the same below `node`: freeze nodes, and resume them. */

#include <limits.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "cli/events.h"
#include "cli/progress.h"
#include "cli/say.h"
#include "cluster/cluster.h"
#include "cmd/command.h"
#include "record/options.h"

static struct {
	const char *node;
	const char *output;
} arg = {
	.output = "text",
};

#define OPT_OUTPUT                                          \
	OPT_CHOICE('o', "output", &arg.output, "text|json", \
		   "output format; json prints one event per line")

static const struct opt options[] = {
	OPT_STRING('n', "node", &arg.node, "NODE", "only this node", .complete = COMPLETE_NODE),
	OPT_OUTPUT,
	OPT_END,
};

static const struct opt node_options[] = { OPT_OUTPUT, OPT_END };

static const struct opt absent[] = {
	OPT_NEEDLESS('A', "all-namespaces", NULL, "a frozen node freezes all its pods"),
	OPT_NEEDLESS(0, "namespaces", "NAMES", "a frozen node freezes all its pods"),
	OPT_END,
};

static void praise_cluster(const struct profile *profile, bool paused, int changed)
{
	if (changed > 0)
		say_done("%s cluster \"%s\": %d %s.", paused ? "Paused" : "Unpaused", profile->name,
			 changed, changed == 1 ? "node" : "nodes");
	else
		say_done("Cluster \"%s\" is %s.", profile->name,
			 paused ? "already paused" : "not paused");
}

/* "node node-2", "nodes node-2, node-3"; the caller frees it. */
static char *name_nodes(const struct strlist *names)
{
	cleanup_free char *list = strlist_join(names, ", ");

	return xasprintf("node%s %s", names->count == 1 ? "" : "s", list);
}

static void praise_nodes(bool paused, const struct strlist *changed, const struct strlist *same)
{
	cleanup_free char *done = name_nodes(changed);
	cleanup_free char *rest = name_nodes(same);
	const char *before = paused ? "already paused" : "not paused";
	const char *verb = same->count == 1 ? "is" : "are";

	if (changed->count == 0)
		say_done("N%s %s %s.", rest + 1, verb, before);
	else if (same->count == 0)
		say_done("%s %s.", paused ? "Paused" : "Unpaused", done);
	else
		say_done("%s %s; %s %s %s.", paused ? "Paused" : "Unpaused", done, rest,
			 same->count == 1 ? "was" : "were", before);
}

static int change_nodes(const struct profile *profile, const struct strlist *names, bool paused,
			struct observer *observer, struct strlist *changed, struct strlist *same,
			struct error *err)
{
	const char *name;
	struct node *node;
	int r;

	/* A mistyped name must not change anything. */
	strlist_for_each(name, names) {
		r = profile_need_node(profile, name, &node, err);
		if (r < 0)
			return r;
	}
	strlist_for_each(name, names) {
		node = profile_find_node(profile, name);
		r = cluster_pause(profile, node, paused, observer, err);
		if (r < 0)
			return r;
		strlist_add(r > 0 ? changed : same, name);
	}
	return 0;
}

/* The nodes called NAMES; the whole cluster if there are none. */
static int change_paused(const struct command_context *ctx, const struct strlist *names,
			 bool paused, struct error *err)
{
	cleanup_with(progress_freep) struct progress *progress = progress_new(ctx->quiet,
									      log_verbosity);
	cleanup_with(strlist_release) struct strlist changed = STRLIST_INIT;
	cleanup_with(strlist_release) struct strlist same = STRLIST_INIT;
	struct observer *observer = progress_observer(progress);
	int r;

	if (names->count > 0)
		r = change_nodes(ctx->profile, names, paused, observer, &changed, &same, err);
	else
		r = cluster_pause(ctx->profile, NULL, paused, observer, err);
	progress_free(take_ptr(progress));
	if (r < 0 || (ctx->quiet && !events_on_stdout()))
		return r < 0 ? r : 0;
	if (names->count > 0)
		praise_nodes(paused, &changed, &same);
	else
		praise_cluster(ctx->profile, paused, r);
	return 0;
}

/* Named with -n, or as operands. */
static int change_named(const struct command_context *ctx, bool paused, struct error *err)
{
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;

	if (arg.node)
		strlist_add(&names, arg.node);
	strlist_add_all(&names, ctx->argv);
	return change_paused(ctx, &names, paused, err);
}

static int run_pause(struct command_context *ctx, struct error *err)
{
	return change_named(ctx, true, err);
}

static int run_unpause(struct command_context *ctx, struct error *err)
{
	return change_named(ctx, false, err);
}

#define FLAGS (COMMAND_NEEDS_CLUSTER | COMMAND_LOCKS_CLUSTER | COMMAND_NEEDS_ROOT | COMMAND_AUDITED)

const struct command cmd_pause = {
	.name = "pause",
	.summary = "freeze a cluster, or one node, until it is unpaused",
	.description =
		"All processes of the nodes are frozen: they use no CPU time, keep their memory, "
		"and continue when they are unpaused. While the control plane is paused, kubectl "
		"gets no answer. If only some nodes are paused, Kubernetes marks them NotReady "
		"after a minute and replaces their pods five minutes later, or both within "
		"seconds if the cluster was created with --failover=fast. 'manykube start' also "
		"unpauses.",
	.examples = "manykube pause\n"
		    "manykube pause -n node-2\n",
	.flags = FLAGS,
	.options = options,
	.absent = absent,
	.events = &arg.output,
	.run = run_pause,
};

const struct command cmd_unpause = {
	.name = "unpause",
	.summary = "resume a paused cluster, or one node",
	.description = "All processes continue where they were. After a pause of more than half a "
		       "minute, Kubernetes shows the nodes as NotReady for a few seconds. Images "
		       "that were loaded meanwhile are brought to the nodes.",
	.examples = "manykube unpause\n"
		    "manykube unpause -n node-2\n",
	.flags = FLAGS,
	.options = options,
	.absent = absent,
	.events = &arg.output,
	.run = run_unpause,
};

const struct command cmd_node_pause = {
	.name = "pause",
	.operands = "NODE...",
	.summary = "freeze nodes until they are unpaused",
	.description = "See 'manykube pause --help' for the effects.",
	.examples = "manykube node pause node-2 node-3\n",
	.min_operands = 1,
	.max_operands = UINT_MAX,
	.complete = COMPLETE_NODE,
	.flags = FLAGS,
	.options = node_options,
	.events = &arg.output,
	.run = run_pause,
};

const struct command cmd_node_unpause = {
	.name = "unpause",
	.operands = "NODE...",
	.summary = "resume paused nodes",
	.examples = "manykube node unpause node-2 node-3\n",
	.min_operands = 1,
	.max_operands = UINT_MAX,
	.complete = COMPLETE_NODE,
	.flags = FLAGS,
	.options = node_options,
	.events = &arg.output,
	.run = run_unpause,
};
