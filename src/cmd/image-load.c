/* `image load`: bring images from this host to the nodes. */

#include <string.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "cmd/image-nodes.h"
#include "node-images/image-input.h"

static struct {
	struct strlist nodes;
	bool engine;
	const char *output;
} arg = {
	.nodes = STRLIST_INIT,
	.output = "text",
};

static const struct opt options[] = {
	OPT_IMAGE_NODES(&arg.nodes, "only for these nodes (default: all, and those added later)"),
	OPT_FLAG(0, "daemon", &arg.engine,
		 "take the images from Docker or Podman, even if files have these names",
		 .once = true),
	OPT_EVENTS(&arg.output),
	OPT_END,
};

static const struct opt absent[] = {
	OPT_ABSENT(0, "remote", NULL, "use 'manykube image pull'", .harmless = "false"),
	OPT_NEEDLESS(0, "overwrite", NULL, "the image that is loaded replaces one of its name"),
	OPT_NEEDLESS(0, "pull", NULL, "images of a registry are pulled with 'manykube image pull'"),
	OPT_END,
};

static int load_one(struct command_context *ctx, const char *word, struct observer *observer,
		    struct strlist *ret_names, struct error *err)
{
	cleanup_with(image_input_release) struct image_input source = IMAGE_INPUT_INIT;
	cleanup_with(image_list_release) struct image_list added = IMAGE_LIST_INIT;
	const char *shown = strcmp(word, "-") == 0 ? "standard input" : word;
	int r = image_input_open(word, arg.engine ? IMAGE_FROM_ENGINE : IMAGE_FROM_ANYWHERE,
				 &source, err);

	if (r == 0)
		r = own_images_add(ctx->profile, source.fd, shown, NULL, image_chosen(&arg.nodes),
				   observer, &added, err);
	r = image_input_close(&source, r, err);
	if (r == 0)
		image_list_names(&added, ret_names);
	return r;
}

static int run(struct command_context *ctx, struct error *err)
{
	cleanup_with(progress_freep) struct progress *progress = NULL;
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	int r = image_need_nodes(ctx, &arg.nodes, err);

	if (r < 0)
		return r;
	progress = progress_new(ctx->quiet, log_verbosity);
	for (int i = 0; r == 0 && i < ctx->argc; i++)
		r = load_one(ctx, ctx->argv[i], progress_observer(progress), &names, err);
	if (r == 0)
		r = image_spread(ctx, image_chosen(&arg.nodes), &names, "Loaded",
				 progress_observer(progress), err);
	return r;
}

const struct command cmd_image_load = {
	.name = "load",
	.elsewhere = "import|add",
	.operands = "FILE|DIR|NAME|-...",
	.min_operands = 1,
	.max_operands = 1000,
	.summary = "load images from this host on the nodes",
	.description =
		"Loads archives as written by 'docker save' or in the OCI layout, optionally "
		"compressed with gzip or zstd; directories with an OCI layout; an archive from "
		"standard input (-); or images of the Docker or Podman engine on this host. They "
		"are unpacked once for all nodes. Stopped nodes and nodes added later get them as "
		"well. Pods use them with imagePullPolicy IfNotPresent or Never.",
	.examples = "sudo manykube image load app.tar\n"
		    "sudo manykube image load app:latest\n"
		    "docker save app | sudo manykube image load -\n"
		    "sudo manykube image load app.tar --node=node-2\n",
	.complete = COMPLETE_FILE,
	.flags = COMMAND_CHANGES_NODES,
	.options = options,
	.absent = absent,
	.events = &arg.output,
	.run = run,
};
