/* `options`: list the options of every command. */

#include "cmd/command.h"

static int run(arg_unused struct command_context *ctx, arg_unused struct error *err)
{
	command_print_options(stdout);
	return 0;
}

const struct command cmd_options = {
	.name = "options",
	.summary = "list the options that all commands have",
	.examples = "manykube options\n",
	.flags = COMMAND_NO_SETTINGS,
	.run = run,
};
