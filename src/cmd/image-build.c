/* `image build`: build an image once, for all nodes. */

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "cli/say.h"
#include "cmd/docker-daemon.h"
#include "cmd/image-build-options.h"
#include "cmd/image-nodes.h"
#include "cmd/interrupt.h"
#include "cmd/prepare.h"

static struct {
	const char *file;
	const char *node;
	struct strlist variables;
	struct strlist opts;
	struct build_options build;
	bool is_repeated;
} arg;

static const struct opt options[] = {
	OPT_LIST('t', "tag", &arg.build.tags, "NAME[:TAG]", "name of the image", .once = true),
	OPT_STRING('f', "file", &arg.file, "FILE",
		   "the Dockerfile; - is standard input (default: Dockerfile in the directory)",
		   .complete = COMPLETE_FILE, .once = true),
	OPT_LIST(0, "build-arg", &arg.build.args, "NAME[=VALUE]",
		 "a value for ARG; without one, that of the variable NAME", .once = true,
		 .secret = true),
	OPT_STRING(0, "target", &arg.build.target, "STAGE",
		   "the stage to build (default: the last)", .once = true),
	OPT_LIST(0, "label", &arg.build.labels, "NAME=VALUE", "a label of the image", .once = true),
	OPT_FLAG(0, "no-cache", &arg.build.no_cache, "do not use results of earlier builds",
		 .once = true),
	OPT_FLAG(0, "pull", &arg.build.pull, "look for newer images in registries", .once = true),
	OPT_STRING('n', "node", &arg.node, "NODE",
		   "the node to build on (default: the primary control plane)",
		   .complete = COMPLETE_NODE, .once = true),
	OPT_LIST(0, "build-env", &arg.variables, "NAME=VALUE",
		 "a variable for --build-arg=NAME, as in minikube", .once = true, .secret = true),
	OPT_LIST(0, "build-opt", &arg.opts, "OPTION[=VALUE]",
		 "an option of docker build without its dashes, as in minikube", .once = true,
		 .secret = true),
	OPT_END,
};

static const struct opt absent[] = {
	OPT_NEEDLESS(0, "all", NULL, "the image is built once"),
	OPT_ABSENT(0, "platform", "PLATFORM", "use --build-opt=platform=PLATFORM"),
	OPT_ABSENT(0, "push", NULL, "'manykube image push' sends an image to its registry",
		   .harmless = "false"),
	OPT_END,
};

static void show_progress(const char *text, void *data)
{
	const struct command_context *ctx = data;

	if (!ctx->quiet)
		(void)fputs(text, stderr);
}

/* Open the context at PATH, or leave it to the builder. */
static int open_context(const char *path, struct build_context **ret, struct error *err)
{
	const struct build_source source = { path, arg.file };
	struct stat st;

	if ((stat(path, &st) == 0 && S_ISDIR(st.st_mode)) || !image_build_is_remote(path))
		return build_context_open(&source, ret, err);
	if (text_is(arg.file, "-"))
		return error_because(err, &reason_usage, -EINVAL,
				     "--file=- cannot be used with a URL");
	arg.build.remote = path;
	arg.build.dockerfile = arg.file;
	return 0;
}

/* Get the images NAMES from the daemon of NODE as an archive. */
static int fetch_archive(struct command_context *ctx, const struct node *node,
			 const struct strlist *names, int *ret_fd, struct error *err)
{
	cleanup_fd int archive = open(ctx->profile->dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	int r;

	if (archive < 0)
		return error_sys(err, "cannot make a file in '%s'", ctx->profile->dir);
	r = docker_save(ctx->profile, node, names, archive, err);
	if (r < 0)
		return error_prefix(err, r, "fetching the image from node '%s'", node->name);
	if (lseek(archive, 0, SEEK_SET) < 0)
		return error_sys(err, "cannot read the image again");
	*ret_fd = take_fd(archive);
	return 0;
}

/* Give the image NAMES, which NODE has, to all nodes.  CTX's profile is loaded again: building took
 * no lock, so nodes may have come and gone. */
static int distribute(struct command_context *ctx, const struct node *node,
		      const struct strlist *names, struct error *err)
{
	cleanup_with(image_list_release) struct image_list added = IMAGE_LIST_INIT;
	cleanup_with(progress_freep) struct progress *progress = NULL;
	cleanup_with(strlist_release) struct strlist only = STRLIST_INIT;
	cleanup_fd int archive = -1;
	cleanup_fd int lock = -1;
	int r = image_complete_names(names->items, &only, err);

	if (r == 0)
		r = fetch_archive(ctx, node, names, &archive, err);
	if (r == 0)
		r = command_take_lock(ctx, "manykube image build", &lock, err);
	if (r < 0)
		return r;
	interrupt_explain("the image is built; the same command completes the nodes");
	profile_release(ctx->profile);
	r = profile_load(ctx->profile_name, ctx->profile, err);
	if (r < 0)
		return r;
	progress = progress_new(ctx->quiet, log_verbosity);
	r = own_images_add(ctx->profile, archive, "the image that was built", &only, NULL,
			   progress_observer(progress), &added, err);
	return r < 0 ? r
		     : image_spread(ctx, NULL, names, "Built", progress_observer(progress), err);
}

/* Say why the build failed; returns the builder's exit status. */
static int report_failure(const struct command_context *ctx, const struct node *node,
			  const struct build_answer *answer)
{
	cleanup_with(error_clear) struct error err = ERROR_INIT;

	(void)error_set(&err, -EBADMSG, "the build failed: %s", answer->failure);
	if (ctx->profile->offline && strstr(answer->failure, "failed to resolve source metadata"))
		(void)error_hint(&err, -EBADMSG,
				 "the cluster is offline: images that FROM names must be on node "
				 "'%s' already",
				 node->name);
	(void)say_error(&err, -EBADMSG);
	return answer->status;
}

/* Build on NODE, whose daemon answers; -EAGAIN if the build has to be repeated. */
static int build_on(struct command_context *ctx, const struct node *node,
		    struct build_context *context, struct error *err)
{
	cleanup_with(build_answer_release) struct build_answer answer = BUILD_ANSWER_INIT;
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	cleanup_with(strbuf_release) struct strbuf end = STRBUF_INIT;
	int r = docker_build(ctx->profile, node, &arg.build, context, show_progress, ctx, &answer,
			     err);

	if (r < 0)
		return r;
	build_answer_end(&answer, &end);
	if (!ctx->quiet || answer.failure)
		(void)fputs(end.text, stderr);
	/* A build that was just cancelled may have named its image while this one ran. */
	if (answer.failure && strstr(answer.failure, ": already exists") && !arg.is_repeated)
		return -EAGAIN;
	if (answer.failure)
		return report_failure(ctx, node, &answer);
	image_build_complete_tags(&arg.build.tags, &names);
	if (names.count == 0 && !ctx->quiet)
		say_done("Built sha256:%s on node %s; without --tag, the other nodes do not get "
			 "it.",
			 answer.image_id, node->name);
	if (names.count > 0)
		r = distribute(ctx, node, &names, err);
	if (r == 0 && ctx->quiet)
		printf("sha256:%s\n", answer.image_id);
	return r;
}

static int run(struct command_context *ctx, struct error *err)
{
	cleanup_with(build_context_freep) struct build_context *context = NULL;
	cleanup_with(docker_client_release) struct docker_client client = DOCKER_CLIENT_INIT;
	cleanup_free char *name = NULL;
	struct node *node = profile_primary(ctx->profile);
	int r = image_build_take_options(&arg.opts, &arg.build, err);

	/* Before the builder gives the name to what it has built. */
	if (r == 0)
		r = image_refuse_tags(ctx, &arg.build.tags, err);
	if (r == 0)
		r = image_build_take_variables(&arg.variables, &arg.build.args, err);
	if (r == 0 && arg.node)
		r = profile_need_node(ctx->profile, arg.node, &node, err);
	if (r == 0 && (!node || !node->address))
		r = error_because(err, &reason_node_missing, -ENOENT,
				  "cluster '%s' has no node to build on", ctx->profile->name);
	/* The context first: its errors need no daemon. */
	if (r == 0)
		r = open_context(ctx->argv[0], &context, err);
	if (r < 0)
		return r;
	/* The daemon cancels a build whose connection ends. */
	interrupt_explain(
		"the build was cancelled; what it has done so far is used by the next one");
	name = xstrdup(node->name);
	r = docker_daemon_need(ctx, name, &client, err);
	if (r == 0)
		r = profile_need_node(ctx->profile, name, &node, err);
	arg.is_repeated = text_is(ctx->argv[0], "-") || text_is(arg.file, "-");
	if (r == 0)
		r = build_on(ctx, node, context, err);
	if (r != -EAGAIN)
		return r;
	arg.is_repeated = true;
	build_context_free(take_ptr(context));
	r = open_context(ctx->argv[0], &context, err);
	return r < 0 ? r : build_on(ctx, node, context, err);
}

const struct command cmd_image_build = {
	.name = "build",
	.operands = "DIRECTORY|-|URL",
	.min_operands = 1,
	.max_operands = 1,
	.complete = COMPLETE_FILE,
	.summary = "build an image once, for all nodes",
	.description =
		"Builds with BuildKit in the Docker daemon of a node, which the first use starts; see "
		"'manykube docker-env'. The directory is read with your rights, also under sudo, "
		"and without what .dockerignore names; - reads a tar archive or a Dockerfile from "
		"standard input, and a URL is fetched by the node. Images that FROM names are "
		"looked for on that node first, so a cluster that is offline can use its own. A "
		"Dockerfile outside of the directory, or one that .dockerignore names, is visible "
		"to COPY. The exit status is that of 'docker build': 1 if a step fails. -q prints "
		"only the ID of the image.",
	.examples = "sudo manykube image build -t app .\n"
		    "sudo manykube image build -t app:test --target=test --build-arg=V=2 ./app\n"
		    "sudo manykube image build -t app -f docker/Dockerfile . --node=node-2\n"
		    "sudo manykube image build -t app - <Dockerfile\n",
	.flags = COMMAND_NEEDS_CLUSTER | COMMAND_NEEDS_ROOT | COMMAND_WAITS | COMMAND_AUDITED,
	.options = options,
	.absent = absent,
	.run = run,
};
