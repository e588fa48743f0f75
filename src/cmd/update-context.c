/* `update-context`: put the cluster into the person's kubeconfig again. */

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
	.summary = "put the cluster into your kubeconfig again and make it current",
	.description =
		"The file is the first of KUBECONFIG, by default ~/.kube/config. Whatever else it "
		"has stays as it is.",
	.examples = "manykube update-context\n"
		    "KUBECONFIG=./kubeconfig manykube update-context -p dev\n",
	.flags = COMMAND_NEEDS_CLUSTER,
	.run = run,
};
