/* `ssh`: a shell or a command on a node. */

#include <string.h>

#include "base/cleanup.h"
#include "cli/terminal.h"
#include "cluster/cluster.h"
#include "cmd/command.h"

static struct {
	const char *node;
} arg;

static const struct opt options[] = {
	OPT_STRING('n', "node", &arg.node, "NODE", "the node, instead of naming it first",
		   .complete = COMPLETE_NODE),
	OPT_END,
};

/* Which node is meant, and where in the operands the command begins. */
static int choose_node(struct command_context *ctx, struct node **ret_node, int *ret_first,
		       struct error *err)
{
	int r;

	*ret_first = 0;
	if (arg.node)
		return profile_need_node(ctx->profile, arg.node, ret_node, err);
	if (ctx->argc > 0 && !ctx->after_dashes) {
		*ret_first = 1;
		r = profile_need_node(ctx->profile, ctx->argv[0], ret_node, err);
		return r < 0 ? error_hint(err, r,
					  "'manykube node list' shows the nodes there are; "
					  "a command for the primary needs -- before it")
			     : 0;
	}
	*ret_node = profile_primary(ctx->profile);
	if (!*ret_node)
		return error_because(err, &reason_node_missing, -ENOENT,
				     "the cluster has no primary");
	return 0;
}

static int run(struct command_context *ctx, struct error *err)
{
	static char *const shell[] = { "bash", "-l", NULL };
	char *in_shell[] = { "sh", "-c", NULL, NULL };
	cleanup_with(cluster_node_release) struct cluster_node at = CLUSTER_NODE_INIT;
	struct node *node;
	char *const *argv;
	int first;
	int r = choose_node(ctx, &node, &first, err);

	if (r == 0)
		r = cluster_node_open(ctx->profile, node, &at, err);
	if (r < 0)
		return r;
	if (first == 1 && ctx->argc > 1 && strcmp(ctx->argv[first], "--") == 0)
		first++;
	argv = first < ctx->argc ? ctx->argv + first : shell;
	/* As ssh does it; what is a program's name never looks so. */
	if (ctx->argc - first == 1 && strpbrk(argv[0], " \t;|&$<>()*?\n")) {
		in_shell[2] = argv[0];
		argv = in_shell;
	}
	return terminal_run(at.driver, &at.spec, argv, err);
}

const struct command cmd_ssh = {
	.name = "ssh",
	.elsewhere = "exec|shell|attach",
	.operands = "[NODE] [-- COMMAND...]",
	.summary = "open a shell on a node, or run a command there",
	.description =
		"You are root of the node, which is nobody on this host. Without NODE it is the "
		"primary control plane. The command's exit status is passed on. A command in "
		"one word, in quotes, is run by the node's shell.",
	.examples = "manykube ssh node-2\n"
		    "manykube ssh node-2 -- ps ax\n"
		    "manykube ssh -- cat /etc/hosts\n"
		    "manykube ssh node-2 -- 'ls /var/log | head -3'\n",
	.complete = COMPLETE_NODE,
	.flags = COMMAND_NEEDS_CLUSTER | COMMAND_NEEDS_ROOT | COMMAND_PASSES_REST | COMMAND_AUDITED,
	.options = options,
	.run = run,
};
