/* `vm-keeper UID FD...`: the keeper of a VM; started by manykube itself. */

#include "base/parse.h"
#include "cmd/command.h"
#include "vm/keeper.h"

static int run(struct command_context *ctx, struct error *err)
{
	unsigned long long numbers[7];

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		int r = parse_number(ctx->argv[i], 0, UINT32_MAX, &numbers[i], err);

		if (r < 0)
			return r;
	}
	return keeper_run(&(struct keeper_fds){ (int)numbers[1], (int)numbers[2], (int)numbers[3],
						(int)numbers[4], (int)numbers[5], (int)numbers[6] },
			  (uid_t)numbers[0], err);
}

const struct command cmd_vm_keeper = {
	.name = "vm-keeper",
	.operands = "UID FD...",
	.summary = "keep the VM whose descriptors are FD...",
	.min_operands = 7,
	.max_operands = 7,
	.flags = COMMAND_HIDDEN | COMMAND_NO_SETTINGS,
	.run = run,
};
