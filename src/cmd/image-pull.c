/* `image pull`: get images from registries. */

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "base/process.h"
#include "cmd/image-nodes.h"

static struct {
	struct strlist nodes;
	const char *output;
} arg = {
	.nodes = STRLIST_INIT,
	.output = "text",
};

static const struct opt options[] = {
	OPT_IMAGE_NODES(&arg.nodes, "only for these nodes (default: all, and those added later)"),
	OPT_EVENTS(&arg.output),
	OPT_END,
};

static const char step[] = "pulling images";

/* Have NODE pull the image NAME into its containerd. */
static int pull(const struct command_context *ctx, const struct node *node, char *name,
		struct observer *observer, struct error *err)
{
	cleanup_with(image_program_release) struct image_program program = IMAGE_PROGRAM_INIT;
	cleanup_free char *what = xasprintf("pull '%s'", name);
	int r;

	observe_begin(observer, step, node->name);
	r = image_program_start(ctx, node,
				ARGV("ctr", "-n", "k8s.io", "images", "pull", "--local",
				     "--hosts-dir", "/etc/containerd/certs.d", "--snapshotter",
				     "overlayfs", "--label", "io.cri-containerd.image=managed",
				     name),
				-1, 0, &program, err);
	if (r == 0)
		r = image_program_end(&program, 0, what, err);
	observe_end(observer, step, node->name, r == 0);
	return r;
}

/* One node pulls; the others get the image like one that is loaded. */
static int run(struct command_context *ctx, struct error *err)
{
	cleanup_with(progress_freep) struct progress *progress = NULL;
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	cleanup_with(strlist_release) struct strlist shown = STRLIST_INIT;
	const struct strlist *nodes = image_chosen(&arg.nodes);
	struct node *node;
	int r = image_need_nodes(ctx, &arg.nodes, err);

	if (r == 0)
		r = image_complete_names(ctx->argv, &names, err);
	/* Before the node gives the name to what it has pulled. */
	if (r == 0)
		r = image_refuse_kubernetes(ctx, &names, err);
	if (r == 0)
		r = image_need_awake(ctx, nodes ? nodes->items[0] : NULL, &node, err);
	if (r < 0)
		return r;
	progress = progress_new(ctx->quiet, log_verbosity);
	for (size_t i = 0; r == 0 && i < names.count; i++) {
		cleanup_with(image_list_release) struct image_list added = IMAGE_LIST_INIT;

		r = pull(ctx, node, names.items[i], progress_observer(progress), err);
		if (r == 0)
			r = image_add_from_node(ctx, node,
						ARGV("ctr", "-n", "k8s.io", "images", "export",
						     "--local", "-", names.items[i]),
						names.items[i], nodes, progress_observer(progress),
						&added, err);
		if (r == 0)
			image_list_names(&added, &shown);
	}
	if (r == 0)
		r = image_spread(ctx, nodes, &shown, "Pulled", progress_observer(progress), err);
	return r;
}

const struct command cmd_image_pull = {
	.name = "pull",
	.operands = "IMAGE...",
	.min_operands = 1,
	.max_operands = 1000,
	.summary = "pull images from registries onto the nodes",
	.description = "One node pulls an image, with the registries that the nodes are configured "
		       "for; all others get it from there. Stopped nodes and nodes added later get "
		       "it as well.",
	.examples = "sudo manykube image pull nginx\n"
		    "sudo manykube image pull localhost:5000/app\n",
	.flags = COMMAND_CHANGES_NODES,
	.options = options,
	.events = &arg.output,
	.run = run,
};
