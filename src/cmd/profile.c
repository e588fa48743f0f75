/* `profile`: which cluster is the active one. */

#include "cmd/command.h"

static const struct command *const subcommands[] = {
	&cmd_profile_import,
	&cmd_profile_list,
	NULL,
};

static int run(struct command_context *ctx, struct error *err)
{
	int r;

	if (ctx->argc == 0) {
		printf("%s\n", ctx->profile_name);
		return 0;
	}
	r = profile_set_active(ctx->argv[0], err);
	if (r < 0)
		return r;
	if (!ctx->quiet)
		fprintf(stderr, "manykube profile was successfully set to %s\n", ctx->argv[0]);
	return 0;
}

const struct command cmd_profile = {
	.name = "profile",
	.elsewhere = "list|ls|cluster|clusters|get",
	.operands = "[NAME]",
	.summary = "show or choose the active cluster, list all, or import one",
	.description =
		"The active cluster is the one that commands without -p work on. Without NAME its "
		"name is printed.",
	.max_operands = 1,
	.complete = COMPLETE_PROFILE,
	.subcommands = subcommands,
	.examples = "manykube profile dev\n"
		    "manykube profile\n"
		    "manykube profile list\n",
	.run = run,
};
