/* `update-context`: add the cluster to the user's kubeconfig again. */

#include "cmd/command.h"
#include "kubeconfig/context.h"

static int run(struct command_context *ctx, struct error *err)
{
	const struct profile *profile = ctx->profile;
	int r = context_update(profile, err);

	if (r < 0)
		return r;
	if (ctx->quiet)
		return 0;
	if (r > 0)
		fprintf(stderr, "\"%s\" context has been updated to point to 127.0.0.1:%u\n",
			profile->name, profile->api_port);
	else
		fprintf(stderr, "No changes required for the \"%s\" context\n", profile->name);
	fprintf(stderr, "Current context is \"%s\"\n", profile->name);
	return 0;
}

const struct command cmd_update_context = {
	.name = "update-context",
	.elsewhere = "kubeconfig|context",
	.summary = "add the cluster to your kubeconfig again and make it the current context",
	.description =
		"Changes the first file in KUBECONFIG, by default ~/.kube/config, and leaves its "
		"other entries alone.",
	.examples = "manykube update-context\n"
		    "KUBECONFIG=./kubeconfig manykube update-context -p dev\n",
	.flags = COMMAND_NEEDS_CLUSTER,
	.run = run,
};
