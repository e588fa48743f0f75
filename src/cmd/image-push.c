/* `image push`: send an image to its registry. */

#include "base/cleanup.h"
#include "base/process.h"
#include "cli/say.h"
#include "cmd/image-nodes.h"
#include "node/cluster-node.h"

static struct {
	const char *node;
} arg;

static const struct opt options[] = {
	OPT_STRING('n', "node", &arg.node, "NODE",
		   "the node whose image is pushed (default: the primary)",
		   .complete = COMPLETE_NODE),
	OPT_END,
};

static int run(struct command_context *ctx, struct error *err)
{
	cleanup_with(cluster_node_release) struct cluster_node at = CLUSTER_NODE_INIT;
	cleanup_with(process_release) struct process process = PROCESS_INIT;
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	struct process_options of_ctr = { .no_stdin = true, .dies_with_us = true };
	struct node *node;
	int status;
	int r = image_complete_names(ctx->argv, &names, err);

	if (r == 0)
		r = image_need_awake(ctx, arg.node, &node, err);
	if (r == 0)
		r = cluster_node_open(ctx->profile, node, &at, err);
	if (r == 0)
		r = at.driver->spawn(&at.spec,
				     ARGV("ctr", "-n", "k8s.io", "images", "push", "--local",
					  "--hosts-dir", "/etc/containerd/certs.d", names.items[0]),
				     &of_ctr, &process, err);
	if (r < 0)
		return r;
	status = process_wait(&process, 0, err);
	if (status < 0)
		return status;
	if (status > 0) {
		(void)error_because(err, &reason_node_failed, -EIO, "node '%s' could not push '%s'",
				    node->name, names.items[0]);
		return error_hint(err, -EIO,
				  "'manykube image tag' gives an image the name of a registry's; "
				  "'manykube registry enable' starts one");
	}
	if (!ctx->quiet)
		say_done("Pushed %s.", names.items[0]);
	return 0;
}

const struct command cmd_image_push = {
	.name = "push",
	.operands = "IMAGE",
	.min_operands = 1,
	.max_operands = 1,
	.summary = "push an image to its registry",
	.description = "The registry is the first part of the image's name, such as localhost:5000 "
		       "in localhost:5000/app. A node pushes the image, so the registry has to be "
		       "reachable from there.",
	.examples = "sudo manykube image tag app localhost:5000/app\n"
		    "sudo manykube image push localhost:5000/app\n",
	.flags = COMMAND_NEEDS_CLUSTER | COMMAND_NEEDS_ROOT | COMMAND_AUDITED,
	.options = options,
	.run = run,
};
