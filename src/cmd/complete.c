/* `__complete WORD...`: candidates for the last word; for shell completion. */

#include "base/cleanup.h"
#include "cmd/candidates.h"

static int run(struct command_context *ctx, arg_unused struct error *err)
{
	cleanup_with(strlist_release) struct strlist found = STRLIST_INIT;
	const char *line;

	candidates_find(commands, ctx->profile_name, ctx->argv, &found);
	strlist_for_each(line, &found)
		printf("%s\n", line);
	return 0;
}

const struct command cmd_complete = {
	.name = "__complete",
	.operands = "[--] WORD...",
	.summary = "print completions of the last word",
	.flags = COMMAND_HIDDEN | COMMAND_PASSES_REST | COMMAND_NO_SETTINGS,
	.run = run,
};
