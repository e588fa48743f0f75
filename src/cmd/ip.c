/* `ip`: the address of a node. */

#include "cmd/node-change.h"

static struct {
	const char *node;
	bool ipv6;
} arg;

static const struct opt options[] = {
	OPT_STRING('n', "node", &arg.node, "NODE", "same as the argument",
		   .complete = COMPLETE_NODE),
	OPT_FLAG('6', "ipv6", &arg.ipv6, "print the IPv6 address"),
	OPT_END,
};

static int run(struct command_context *ctx, struct error *err)
{
	struct node *node = profile_primary(ctx->profile);
	int r;

	if (ctx->argc > 0)
		arg.node = ctx->argv[0];
	if (arg.node || ctx->command->flags & COMMAND_WORKERS) {
		r = node_need_named(ctx, arg.node, &node, err);
		if (r < 0)
			return r;
	}
	if (!node || !node->address)
		return error_because(err, &reason_node_missing, -ENOENT,
				     "cluster '%s' has no %s with an address yet",
				     ctx->profile->name, node ? node->name : "primary");
	if (arg.ipv6 && !node->address6) {
		(void)error_because(err, &reason_usage, -EINVAL,
				    "cluster '%s' has no IPv6 addresses", ctx->profile->name);
		return error_hint(err, -EINVAL,
				  "'manykube ip' prints the IPv4 address; "
				  "--ip-family=dual gives a new cluster both");
	}
	printf("%s\n", arg.ipv6 ? node->address6 : node->address);
	return 0;
}

const struct command cmd_ip = {
	.name = "ip",
	.operands = "[NODE]",
	.max_operands = 1,
	.complete = COMPLETE_NODE,
	.summary = "print the address of a node",
	.description = "Prints the address of NODE, or of the primary control plane. Node "
		       "addresses do not change, so this also works for stopped nodes.",
	.examples = "curl http://$(manykube ip):30080\n"
		    "manykube ip -n node-2\n"
		    "manykube ip --ipv6\n",
	.flags = COMMAND_NEEDS_CLUSTER,
	.options = options,
	.run = run,
};

const struct command cmd_worker_ip = {
	.name = "ip",
	.operands = "NAME",
	.max_operands = 1,
	.complete = COMPLETE_NODE,
	.summary = "print the address of a worker",
	.description = "Node addresses do not change, so this also works for stopped workers.",
	.examples = "manykube worker ip node-2\n",
	.flags = COMMAND_NEEDS_CLUSTER | COMMAND_WORKERS,
	.options = options,
	.run = run,
};
