/* `image push`: send an image to its registry. */

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/process.h"
#include "cli/say.h"
#include "cmd/image-nodes.h"

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
	cleanup_with(image_program_release) struct image_program program = IMAGE_PROGRAM_INIT;
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	cleanup_free char *what = NULL;
	cleanup_free char *found = NULL;
	struct node *node;
	int r = image_complete_names(ctx->argv, &names, err);

	if (r == 0)
		r = image_need_awake(ctx, arg.node, &node, err);
	if (r == 0)
		r = image_find_on_node(ctx, node, names.items[0], &found, err);
	if (r == 0)
		r = image_program_start(ctx, node,
					ARGV("ctr", "-n", "k8s.io", "images", "push", "--local",
					     "--hosts-dir", "/etc/containerd/certs.d",
					     names.items[0]),
					-1, 0, &program, err);
	if (r < 0)
		return r;
	what = xasprintf("push '%s'", names.items[0]);
	r = image_program_end(&program, 0, what, err);
	if (r < 0)
		return error_hint(err, r,
				  "'manykube image tag' gives an image a name in a registry; "
				  "'manykube registry enable' starts one");
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
