/* `autostart`: start a cluster when the host boots. */

#include "home/autostart.h"
#include "cmd/command.h"

static int enable(struct command_context *ctx, struct error *err)
{
	int r = autostart_enable(ctx->profile, err);

	if (r == 0 && !ctx->quiet)
		printf("Cluster \"%s\" starts when this host boots.\n", ctx->profile_name);
	return r;
}

static int disable(struct command_context *ctx, struct error *err)
{
	int r = autostart_disable(ctx->profile, err);

	if (r == 0 && !ctx->quiet)
		printf("Cluster \"%s\" no longer starts at boot.\n", ctx->profile_name);
	return r;
}

static int status(struct command_context *ctx, struct error *err arg_unused)
{
	printf("%s\n", autostart_is_enabled(ctx->profile) ? "enabled" : "disabled");
	return 0;
}

static const struct command cmd_enable = {
	.name = "enable",
	.summary = "start the cluster when this host boots",
	.description =
		"Installs a systemd service that starts the cluster at boot, as 'manykube start' "
		"does, and stops it at shutdown. The running cluster is not affected. Deleting "
		"the cluster removes the service.",
	.examples = "sudo manykube autostart enable\n"
		    "sudo manykube autostart enable -p dev\n",
	.flags = COMMAND_NEEDS_CLUSTER | COMMAND_LOCKS_CLUSTER | COMMAND_NEEDS_ROOT |
		 COMMAND_AUDITED,
	.run = enable,
};

static const struct command cmd_disable = {
	.name = "disable",
	.summary = "do not start the cluster at boot",
	.examples = "sudo manykube autostart disable\n",
	.flags = COMMAND_NEEDS_CLUSTER | COMMAND_LOCKS_CLUSTER | COMMAND_NEEDS_ROOT |
		 COMMAND_AUDITED,
	.run = disable,
};

static const struct command cmd_status_of = {
	.name = "status",
	.summary = "print whether the cluster starts at boot: enabled or disabled",
	.examples = "manykube autostart status\n",
	.flags = COMMAND_NEEDS_CLUSTER,
	.run = status,
};

static const struct command *const subcommands[] = {
	&cmd_enable,
	&cmd_disable,
	&cmd_status_of,
	NULL,
};

const struct command cmd_autostart = {
	.name = "autostart",
	.elsewhere = "boot",
	.summary = "start a cluster when this host boots",
	.examples = "sudo manykube autostart enable\n"
		    "manykube autostart status -p dev\n",
	.subcommands = subcommands,
};
