/* `profile`: show or select the active cluster. */

#include "base/cleanup.h"
#include "base/log.h"
#include "cli/say.h"
#include "cmd/command.h"
#include "kubeconfig/context.h"

static const struct command *const subcommands[] = {
	&cmd_profile_import,
	&cmd_profile_list,
	NULL,
};

/* Make kubectl use the cluster NAME, too, if possible; report the result. */
static void choose_context(const char *name, bool quiet)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	int r = profile_load(name, &profile, &why);

	if (r == 0)
		r = context_choose(&profile, &why);
	if (r < 0)
		log_warning("kubectl's current context is unchanged: %s", why.text);
	else if (quiet)
		return;
	else if (r > 0)
		fprintf(stderr, "kubectl is set to use it, too.\n");
	else if (profile.keep_context)
		fprintf(stderr,
			"kubectl's current context is unchanged: the cluster was created with "
			"--keep-context.\n");
	else
		say_done("kubectl can use it after 'manykube start'.");
}

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
	choose_context(ctx->argv[0], ctx->quiet);
	return 0;
}

const struct command cmd_profile = {
	.name = "profile",
	.operands = "[NAME]",
	.summary = "show or select the active cluster, list all, or import one",
	.description =
		"Commands without -p use the active cluster. Without NAME, prints its name. With "
		"NAME, makes that cluster active and, if it is in your kubeconfig, changes "
		"kubectl's current context, as 'start' does.",
	.max_operands = 1,
	.complete = COMPLETE_PROFILE,
	.subcommands = subcommands,
	.examples = "manykube profile dev\n"
		    "manykube profile\n"
		    "manykube profile list\n",
	.run = run,
};
