/* `image tag`: give an image another name. */

#include <string.h>

#include "base/cleanup.h"
#include "cli/say.h"
#include "cmd/image-nodes.h"
#include "node-images/node-images.h"
#include "node/cluster-node.h"

static struct {
	struct strlist nodes;
} arg = {
	.nodes = STRLIST_INIT,
};

static const struct opt options[] = {
	OPT_IMAGE_NODES(&arg.nodes, "only on these nodes (default: all that have the image)"),
	OPT_END,
};

static int tag_on_node(struct command_context *ctx, const struct node *node, const char *from,
		       const char *to, struct error *err)
{
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	cleanup_free char *name = NULL;
	int r = image_find_on_node(ctx, node, from, &name, &why);

	if (r == 0)
		r = node_images_tag(ctx->profile, node, name, to, &why);
	return r < 0 && r != -ENOENT ? error_move(err, r, &why) : r;
}

/* Tag the image on the nodes that have it; returns their number. */
static int tag_on_nodes(struct command_context *ctx, const char *from, const char *to,
			struct error *err)
{
	const struct node *node;
	int count = 0;

	profile_for_each_node(node, ctx->profile) {
		int r;

		if ((arg.nodes.count && !strlist_has(&arg.nodes, node->name)) ||
		    !cluster_node_is_awake(ctx->profile, node))
			continue;
		r = tag_on_node(ctx, node, from, to, err);
		if (r < 0 && r != -ENOENT)
			return r;
		count += r == 0;
	}
	return count;
}

static int run(struct command_context *ctx, struct error *err)
{
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	cleanup_with(strlist_release) struct strlist target = STRLIST_INIT;
	cleanup_with(own_images_outcome_release) struct own_images_outcome outcome =
		OWN_IMAGES_OUTCOME_INIT;
	bool in_store = false;
	int r = image_need_nodes(ctx, &arg.nodes, err);

	if (r == 0)
		r = image_complete_names(ctx->argv, &names, err);
	if (r < 0)
		return r;
	if (strncmp(names.items[1], "sha256:", 7) == 0)
		return error_because(err, &reason_usage, -EINVAL, "'%s' is not a name for an image",
				     names.items[1]);
	strlist_add(&target, names.items[1]);
	r = image_refuse_kubernetes(ctx, &target, err);
	if (r < 0)
		return r;
	/* So that nodes that start later have the name, too. */
	if (arg.nodes.count == 0) {
		r = own_images_tag(ctx->profile, names.items[0], names.items[1], err);
		if (r < 0 && r != -ENOENT)
			return r;
		in_store = r == 0;
	}
	r = tag_on_nodes(ctx, names.items[0], names.items[1], err);
	/* Nodes that did not have the image by that name. */
	if (r >= 0 && in_store) {
		int spread = own_images_spread(ctx->profile, NULL, NULL, &outcome, err);

		r = spread < 0 ? spread : r;
	}
	if (r == 0 && !in_store) {
		(void)error_because(err, &reason_node_path, -ENOENT,
				    "no node that runs has the image '%s'", names.items[0]);
		return error_hint(err, -ENOENT, "'manykube image ls' lists the images");
	}
	if (r >= 0 && !ctx->quiet)
		say_done("%s is now also called %s.", ctx->argv[0], ctx->argv[1]);
	return MIN(r, 0);
}

const struct command cmd_image_tag = {
	.name = "tag",
	.operands = "IMAGE NAME",
	.min_operands = 2,
	.max_operands = 2,
	.summary = "give an image another name",
	.examples = "sudo manykube image tag app:latest localhost:5000/app\n",
	.flags = COMMAND_CHANGES_NODES,
	.options = options,
	.run = run,
};
