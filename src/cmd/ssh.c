/* `ssh`: open a shell or run a command on a node. */

#include <string.h>

#include "base/cleanup.h"
#include "cli/terminal.h"
#include "cmd/node-change.h"
#include "node/cluster-node.h"

static struct {
	const char *node;
} arg;

static const struct opt options[] = {
	OPT_STRING('n', "node", &arg.node, "NODE", "the node, instead of the first argument",
		   .complete = COMPLETE_NODE),
	OPT_END,
};

/*
 * Whether the first operand is a node: if it is a node's name, or if only a node can be there,
 * before -- or after `worker ssh`. Otherwise it is a command for the primary, as in minikube.
 */
static bool names_node(const struct command_context *ctx)
{
	if (ctx->argc == 0 || ctx->after_dashes)
		return false;
	return profile_find_node(ctx->profile, ctx->argv[0]) ||
	       ctx->command->flags & COMMAND_WORKERS ||
	       (ctx->argc > 1 && strcmp(ctx->argv[1], "--") == 0);
}

/* Find the node, and the operand at which the command starts. */
static int choose_node(struct command_context *ctx, struct node **ret_node, int *ret_first,
		       struct error *err)
{
	const char *name = arg.node;

	*ret_first = 0;
	if (!name && names_node(ctx)) {
		name = ctx->argv[0];
		*ret_first = ctx->argc > 1 && strcmp(ctx->argv[1], "--") == 0 ? 2 : 1;
	}
	if (name || ctx->command->flags & COMMAND_WORKERS)
		return node_need_named(ctx, name, ret_node, err);
	*ret_node = profile_primary(ctx->profile);
	if (!*ret_node)
		return error_because(err, &reason_node_missing, -ENOENT,
				     "the cluster has no primary control plane");
	return 0;
}

/* Running WORD on the primary failed with CODE: it may be a mistyped node name. */
static int explain_word(const struct command_context *ctx, const char *word, int code,
			struct error *err)
{
	cleanup_with(error_clear) struct error missing = ERROR_INIT;
	struct node *node;

	(void)profile_need_node(ctx->profile, word, &node, &missing);
	return error_hint(err, code,
			  "'%s' was run as a command because the cluster has no such node: %s",
			  word, missing.hint);
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
	argv = first < ctx->argc ? ctx->argv + first : shell;
	/* As ssh does; names of programs never look like this. */
	if (ctx->argc - first == 1 && strpbrk(argv[0], " \t;|&$<>()*?\n")) {
		in_shell[2] = argv[0];
		argv = in_shell;
	}
	r = terminal_run(at.driver, &at.spec, argv, err);
	if (r < 0 && argv == ctx->argv && !ctx->after_dashes && !arg.node)
		return explain_word(ctx, argv[0], r, err);
	return r;
}

const struct command cmd_ssh = {
	.name = "ssh",
	.elsewhere = "exec|shell|attach",
	.operands = "[NODE] [[--] COMMAND...]",
	.summary = "open a shell on a node, or run a command there",
	.description =
		"You are root on the node, without rights on this host. If the first argument is "
		"not the name of a node, or is preceded by --, a command is run on the primary "
		"control plane. The exit status is that of the command. A command given as one "
		"argument, in quotes, is run by the node's shell.",
	.examples = "manykube ssh node-2\n"
		    "manykube ssh node-2 -- ps ax\n"
		    "manykube ssh 'uname -n'\n"
		    "manykube ssh node-2 -- 'ls /var/log | head -3'\n",
	.complete = COMPLETE_NODE,
	.flags = COMMAND_NEEDS_CLUSTER | COMMAND_NEEDS_ROOT | COMMAND_PASSES_REST | COMMAND_AUDITED,
	.options = options,
	.run = run,
};

const struct command cmd_worker_ssh = {
	.name = "ssh",
	.operands = "NAME [[--] COMMAND...]",
	.summary = "open a shell on a worker, or run a command there",
	.description = "Like 'manykube ssh', but the worker must be named.",
	.examples = "manykube worker ssh node-2\n"
		    "manykube worker ssh node-2 -- ps ax\n",
	.complete = COMPLETE_NODE,
	.flags = COMMAND_NEEDS_CLUSTER | COMMAND_NEEDS_ROOT | COMMAND_PASSES_REST |
		 COMMAND_AUDITED | COMMAND_WORKERS,
	.options = options,
	.run = run,
};
