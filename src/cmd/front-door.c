/* `front-door DIR`: the balancer's process; started by manykube itself. */

#include "balancer/balancer.h"
#include "cmd/command.h"
#include "network/policy-rules.h"

static int run(struct command_context *ctx, struct error *err)
{
	return balancer_run(ctx->argv[0], policy_rules_install_at, err);
}

const struct command cmd_front_door = {
	.name = "front-door",
	.operands = "DIR",
	.summary = "balance the API of the cluster in DIR",
	.min_operands = 1,
	.max_operands = 1,
	.flags = COMMAND_HIDDEN | COMMAND_NO_SETTINGS,
	.run = run,
};
