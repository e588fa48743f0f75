/* `image ls`: the images of the nodes. */

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "cli/table.h"
#include "cli/text.h"
#include "cmd/image-nodes.h"
#include "data/words.h"
#include "data/yaml.h"
#include "node-images/node-images.h"
#include "node/cluster-node.h"

static struct {
	struct strlist nodes;
	const char *output;
	const char *format;
	bool quiet;
} arg = {
	.nodes = STRLIST_INIT,
	.output = "table",
};

static const struct opt options[] = {
	OPT_IMAGE_NODES(&arg.nodes, "only the images of these nodes (default: all)"),
	OPT_CHOICE('o', "output", &arg.output, "table|short|json|yaml",
		   "output format; short prints only names"),
	OPT_CHOICE(0, "format", &arg.format, "table|short|json|yaml", "same as --output",
		   .once = true),
	OPT_END,
};

/* An image under one name, on one or more nodes. */
struct row {
	char *name;
	char *digest;
	uint64_t size;
	struct strlist nodes;
	bool kubernetes; /* one of Kubernetes' own */
};

struct listing {
	struct row *rows;
	size_t count;
	struct strlist asked; /* the nodes that answered */
	struct strlist own;   /* names of Kubernetes' own images */
};

static void listing_release(struct listing *listing)
{
	for (size_t i = 0; i < listing->count; i++) {
		free(listing->rows[i].name);
		free(listing->rows[i].digest);
		strlist_release(&listing->rows[i].nodes);
	}
	free(listing->rows);
	strlist_release(&listing->asked);
	strlist_release(&listing->own);
}

static struct row *need_row(struct listing *listing, const struct node_image *image)
{
	struct row *row;

	for (size_t i = 0; i < listing->count; i++)
		if (strcmp(listing->rows[i].name, image->name) == 0 &&
		    strcmp(listing->rows[i].digest, image->digest) == 0)
			return &listing->rows[i];
	listing->rows = xrealloc(listing->rows, listing->count + 1, sizeof(*listing->rows));
	row = &listing->rows[listing->count++];
	*row = (struct row){
		.name = xstrdup(image->name),
		.digest = xstrdup(image->digest),
		.size = image->size,
		.kubernetes = strlist_has(&listing->own, image->name),
	};
	return row;
}

/* Whether an image of LIST with the digest of IMAGE has a name for people. */
static bool has_other_name(const struct node_image_list *list, const struct node_image *image)
{
	for (size_t i = 0; i < list->count; i++)
		if (strcmp(list->items[i].digest, image->digest) == 0 &&
		    strncmp(list->items[i].name, "sha256:", 7) != 0)
			return true;
	return false;
}

static int ask_node(const struct command_context *ctx, const struct node *node,
		    struct listing *listing, struct error *err)
{
	cleanup_with(node_image_list_release) struct node_image_list list = NODE_IMAGE_LIST_INIT;
	int r = image_list_node(ctx, node, &list, err);

	if (r < 0)
		return r;
	strlist_add(&listing->asked, node->name);
	for (size_t i = 0; i < list.count; i++) {
		const struct node_image *image = &list.items[i];

		/* The CRI plugin adds each image under its id, too. */
		if (strncmp(image->name, "sha256:", 7) == 0 && has_other_name(&list, image))
			continue;
		strlist_add(&need_row(listing, image)->nodes, node->name);
	}
	return 0;
}

static int compare_rows(const void *a, const void *b)
{
	const struct row *one = a;
	const struct row *other = b;

	if (one->kubernetes != other->kubernetes)
		return one->kubernetes ? 1 : -1;
	return strcmp(one->name, other->name);
}

static int collect(struct command_context *ctx, struct listing *listing, struct error *err)
{
	const struct node *node;
	int r;

	(void)own_images_list_kubernetes(ctx->profile, &listing->own, NULL);
	profile_for_each_node(node, ctx->profile) {
		cleanup_with(error_clear) struct error why = ERROR_INIT;

		if (arg.nodes.count && !strlist_has(&arg.nodes, node->name))
			continue;
		if (!cluster_node_is_awake(ctx->profile, node)) {
			log_warning("node '%s' is %s, and is left out", node->name,
				    cluster_node_state(ctx->profile, node) == NODE_RUNNING
					    ? "paused"
					    : "not running");
			continue;
		}
		r = ask_node(ctx, node, listing, &why);
		if (r < 0)
			log_warning("node '%s' is left out: %s", node->name, why.text);
	}
	if (listing->asked.count == 0)
		return error_because(err, &reason_node_not_running, -ESRCH,
				     "no node could be asked for its images");
	if (listing->count)
		qsort(listing->rows, listing->count, sizeof(*listing->rows), compare_rows);
	return 0;
}

/* "all", or "2/3: node-2, node-3", also if --node names all that there are. */
static char *show_nodes(const struct listing *listing, const struct row *row)
{
	cleanup_free char *names = NULL;

	if (row->nodes.count == listing->asked.count && arg.nodes.count == 0)
		return xstrdup("all");
	names = strlist_join(&row->nodes, ", ");
	return xasprintf("%zu/%zu: %s", row->nodes.count, listing->asked.count, names);
}

static char *show_size(uint64_t bytes)
{
	return bytes < 1000000 ? xasprintf("%.1fkB", (double)bytes / 1e3)
			       : xasprintf("%.1fMB", (double)bytes / 1e6);
}

static void print_table(const struct listing *listing)
{
	cleanup_with(table_release) struct table table = TABLE_INIT;

	TABLE_ROW(&table, "IMAGE", "ID", "SIZE", "NODES", "OF");
	for (size_t i = 0; i < listing->count; i++) {
		const struct row *row = &listing->rows[i];
		cleanup_free char *nodes = show_nodes(listing, row);
		cleanup_free char *size = show_size(row->size);
		cleanup_free char *id = xasprintf("%.12s", row->digest);

		TABLE_ROW(&table, row->name, id, size, nodes, row->kubernetes ? "Kubernetes" : "");
	}
	if (isatty(STDOUT_FILENO))
		table_print_within(&table, text_columns(STDOUT_FILENO, 0), stdout);
	else
		table_print(&table, stdout);
}

static json_t *describe(const struct listing *listing)
{
	json_t *images = json_array();

	for (size_t i = 0; i < listing->count; i++) {
		const struct row *row = &listing->rows[i];
		cleanup_free char *digest = xasprintf("sha256:%s", row->digest);

		(void)json_array_append_new(images, json_pack("{s:s, s:s, s:I, s:o, s:b}", "name",
							      row->name, "digest", digest,
							      "sizeBytes", (json_int_t)row->size,
							      "nodes", words_to_json(&row->nodes),
							      "kubernetes", row->kubernetes));
	}
	return json_pack("{s:o, s:o}", "images", images, "nodes", words_to_json(&listing->asked));
}

static void print_structured(const struct listing *listing, bool as_json)
{
	json_auto_t *all = describe(listing);
	cleanup_free char *text = as_json ? json_dumps(all, JSON_COMPACT) : yaml_print(all);

	printf("%s%s", text, as_json ? "\n" : "");
}

static int run(struct command_context *ctx, struct error *err)
{
	cleanup_with(listing_release) struct listing listing = { .asked = STRLIST_INIT };
	const char *format = arg.format ? arg.format : arg.output;
	int r = image_need_nodes(ctx, &arg.nodes, err);

	if (r == 0)
		r = collect(ctx, &listing, err);
	if (r < 0)
		return r;
	if (strcmp(format, "table") == 0)
		print_table(&listing);
	else if (strcmp(format, "short") == 0)
		for (size_t i = 0; i < listing.count; i++)
			printf("%s\n", listing.rows[i].name);
	else
		print_structured(&listing, strcmp(format, "json") == 0);
	return 0;
}

const struct command cmd_image_ls = {
	.name = "ls",
	.alias = "list",
	.elsewhere = "images",
	.summary = "list the images of the nodes",
	.description = "NODES says which of the running nodes have an image. Images marked "
		       "\"Kubernetes\" are needed by the cluster itself. Names are complete: "
		       "docker.io/library/app:latest is app for docker and in pods.",
	.options = options,
	.examples = "sudo manykube image ls\n"
		    "sudo manykube image ls --node=node-2 -o json\n",
	.flags = COMMAND_NEEDS_CLUSTER | COMMAND_NEEDS_ROOT,
	.run = run,
};
