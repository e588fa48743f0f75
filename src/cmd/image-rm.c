/* `image rm`: remove images from the nodes. */

#include <string.h>

#include "base/cleanup.h"
#include "base/log.h"
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
	OPT_IMAGE_NODES(&arg.nodes, "only from these nodes (default: all)"),
	OPT_END,
};

static const struct opt absent[] = {
	OPT_NEEDLESS('f', "force", NULL, "images are removed even if containers use them"),
	OPT_END,
};

/* Add the names of the image that WORD stands for in LIST to RET: all of them for an ID.  Returns
 * whether there are any. */
static bool choose_names(const struct node_image_list *list, const char *word, struct strlist *ret)
{
	bool is_found = false;

	for (size_t i = 0; i < list->count; i++) {
		if (!node_image_is(&list->items[i], word))
			continue;
		is_found = true;
		if (!strlist_has(ret, list->items[i].name))
			strlist_add(ret, list->items[i].name);
	}
	return is_found;
}

/* Add what has to be removed on NODE to RET, and those of WORDS that stand for something there to
 * RET_FOUND. */
static int find_on_node(struct command_context *ctx, const struct node *node,
			const struct strlist *words, struct strlist *ret, struct strlist *ret_found,
			struct error *err)
{
	cleanup_with(node_image_list_release) struct node_image_list list = NODE_IMAGE_LIST_INIT;
	const char *word;
	int r = image_list_node(ctx, node, &list, err);

	if (r < 0)
		return r;
	strlist_for_each(word, words)
		if (choose_names(&list, word, ret) && !strlist_has(ret_found, word))
			strlist_add(ret_found, word);
	return image_refuse_kubernetes(ctx, ret, err);
}

/* Remove NAMES from all running nodes, and add those that were there to RET_FOUND. */
static int remove_from_nodes(struct command_context *ctx, const struct strlist *names,
			     struct strlist *ret_found, struct error *err)
{
	const struct node *node;

	profile_for_each_node(node, ctx->profile) {
		cleanup_with(strlist_release) struct strlist here = STRLIST_INIT;
		int r;

		if ((arg.nodes.count && !strlist_has(&arg.nodes, node->name)) ||
		    !cluster_node_is_awake(ctx->profile, node))
			continue;
		r = find_on_node(ctx, node, names, &here, ret_found, err);
		if (r == 0 && here.count)
			r = node_images_remove(ctx->profile, node, &here, err);
		if (r < 0)
			return r;
	}
	return 0;
}

static int check_found(const struct strlist *names, const struct strlist *found, struct error *err)
{
	cleanup_with(strlist_release) struct strlist missing = STRLIST_INIT;
	cleanup_free char *list = NULL;
	const char *name;

	strlist_for_each(name, names)
		if (!strlist_has(found, name))
			strlist_addf(&missing, "'%s'", name);
	if (missing.count == 0)
		return 0;
	list = strlist_join(&missing, ", ");
	(void)error_because(err, &reason_node_path, -ENOENT, "no node that runs has the image%s %s",
			    missing.count == 1 ? "" : "s", list);
	return error_hint(err, -ENOENT, "'manykube image ls' lists the images");
}

static int run(struct command_context *ctx, struct error *err)
{
	cleanup_with(progress_freep) struct progress *progress = NULL;
	cleanup_with(own_images_outcome_release) struct own_images_outcome outcome =
		OWN_IMAGES_OUTCOME_INIT;
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	cleanup_with(strlist_release) struct strlist found = STRLIST_INIT;
	const struct strlist *nodes = image_chosen(&arg.nodes);
	cleanup_free char *shown = NULL;
	int r = image_need_nodes(ctx, &arg.nodes, err);

	if (r == 0)
		r = image_complete_names(ctx->argv, &names, err);
	if (r == 0)
		r = image_refuse_kubernetes(ctx, &names, err);
	if (r < 0)
		return r;
	progress = progress_new(ctx->quiet, log_verbosity);
	/* First from the store, so that nodes that start meanwhile do not get them again. */
	r = own_images_forget(ctx->profile, &names, nodes, &found, err);
	if (r == 0)
		r = remove_from_nodes(ctx, &names, &found, err);
	if (r == 0)
		r = own_images_spread(ctx->profile, nodes, NULL, &outcome, err);
	progress_free(take_ptr(progress));
	shown = strlist_join(&found, ", ");
	if (r == 0 && found.count && !ctx->quiet)
		say_done("Removed %s.", shown);
	return r < 0 ? r : check_found(&names, &found, err);
}

const struct command cmd_image_rm = {
	.name = "rm",
	.alias = "remove|unload",
	.elsewhere = "delete|rmi",
	.operands = "IMAGE...",
	.min_operands = 1,
	.max_operands = 1000,
	.summary = "remove images from the nodes",
	.description = "Containers that use an image keep running. Stopped nodes lose it when they "
		       "start. Kubernetes' own images cannot be removed.",
	.examples = "sudo manykube image rm app:latest\n"
		    "sudo manykube image rm app:latest --node=node-2\n",
	.flags = COMMAND_CHANGES_NODES,
	.options = options,
	.absent = absent,
	.run = run,
};
