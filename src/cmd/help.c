/* `help`: print help. */

#include "base/alloc.h"
#include "base/cleanup.h"
#include "cmd/command.h"

static int run(struct command_context *ctx, struct error *err)
{
	cleanup_free char *path = xstrdup("manykube");
	const struct command *const *list = commands;
	const struct command *command = NULL;
	int r;

	if (ctx->argc == 0) {
		command_print_list(commands, stdout);
		return 0;
	}
	for (int i = 0; i < ctx->argc; i++) {
		char *longer;

		if (!list)
			return error_because(err, &reason_usage, -EINVAL,
					     "'%s' has no subcommand '%s'", path, ctx->argv[i]);
		r = command_find(list, path, ctx->argv[i], &command, err);
		if (r < 0)
			return r;
		longer = xasprintf("%s %s", path, command->name);
		free(path);
		path = longer;
		list = command->subcommands;
	}
	command_print_help(command, path, stdout);
	return 0;
}

const struct command cmd_help = {
	.name = "help",
	.operands = "[COMMAND]...",
	.summary = "show help for manykube or one of its commands",
	.max_operands = 2,
	.complete = COMPLETE_COMMAND,
	.examples = "manykube help\n"
		    "manykube help node list\n",
	.flags = COMMAND_NO_SETTINGS,
	.run = run,
};
