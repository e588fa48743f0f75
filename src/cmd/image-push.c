/* `image push`: send an image to its registry. */

#include <string.h>

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

/* Where containerd has a choice of hosts, it pushes to the first one only.  Like Docker: TLS with
 * any certificate, or else plain HTTP. */
static char insecure[] = "ctr -n k8s.io images push --local --skip-verify \"$1\" ||"
			 "exec ctr -n k8s.io images push --local --plain-http \"$1\"";

static bool is_insecure(const struct profile *profile, const struct node *node, const char *name)
{
	cleanup_free char *registry = xstrndup(name, strcspn(name, "/"));

	return strlist_has(&profile->insecure_registries, registry) ||
	       strlist_has(&node->insecure_registries, registry);
}

/* What to do after pushing NAME has failed with R. */
static int suggest(const struct profile *profile, const char *name, int r, struct error *err)
{
	cleanup_free char *registry = xstrndup(name, strcspn(name, "/"));

	if (strcmp(registry, "docker.io") == 0 && profile->registry_port)
		return error_hint(
			err, r,
			"'manykube image tag' gives an image a name in a registry; that of "
			"the cluster is localhost:%u",
			profile->registry_port);
	if (strcmp(registry, "docker.io") == 0)
		return error_hint(err, r,
				  "'manykube image tag' gives an image a name in a registry; "
				  "'manykube registry enable' starts one");
	if (err->text && (strstr(err->text, "x509") || strstr(err->text, "to HTTPS client")))
		return error_hint(
			err, r,
			"'manykube start --insecure-registry=%s' lets nodes use it without "
			"a valid certificate",
			registry);
	return r;
}

static int push(const struct command_context *ctx, const struct node *node, char *name,
		struct error *err)
{
	cleanup_with(image_program_release) struct image_program program = IMAGE_PROGRAM_INIT;
	cleanup_free char *what = xasprintf("push '%s'", name);
	int r = image_program_start(ctx, node,
				    is_insecure(ctx->profile, node, name)
					    ? ARGV("sh", "-c", insecure, "push", name)
					    : ARGV("ctr", "-n", "k8s.io", "images", "push",
						   "--local", "--hosts-dir",
						   "/etc/containerd/certs.d", name),
				    -1, 0, &program, err);

	if (r < 0)
		return r;
	r = image_program_end(&program, 0, what, err);
	if (r < 0)
		return suggest(ctx->profile, name, r, err);
	if (!ctx->quiet)
		say_done("Pushed %s.", name);
	return 0;
}

static int run(struct command_context *ctx, struct error *err)
{
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	struct node *node;
	int r = image_complete_names(ctx->argv, &names, err);

	if (r == 0)
		r = image_need_awake(ctx, arg.node, &node, err);
	/* All of them first: a missing one is found before anything is sent. */
	for (size_t i = 0; r == 0 && i < names.count; i++) {
		cleanup_free char *found = NULL;

		r = image_find_on_node(ctx, node, names.items[i], &found, err);
	}
	for (size_t i = 0; r == 0 && i < names.count; i++)
		r = push(ctx, node, names.items[i], err);
	return r;
}

const struct command cmd_image_push = {
	.name = "push",
	.operands = "IMAGE...",
	.min_operands = 1,
	.max_operands = 1000,
	.summary = "push images to their registries",
	.description = "The registry is the first part of an image's name, such as localhost:5000 "
		       "in localhost:5000/app. A node pushes the image, so the registry has to be "
		       "reachable from there.",
	.examples = "sudo manykube image tag app localhost:5000/app\n"
		    "sudo manykube image push localhost:5000/app\n",
	.flags = COMMAND_NEEDS_CLUSTER | COMMAND_NEEDS_ROOT | COMMAND_AUDITED,
	.options = options,
	.run = run,
};
