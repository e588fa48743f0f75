/* Shared by the commands of `image`. */

#include "cmd/image-nodes.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/process.h"
#include "cli/events.h"
#include "cli/say.h"
#include "image/name.h"
#include "node/cluster-node.h"

/* How much of what a program says is kept, and shown. */
#define SAID_MOST (32 << 10)
#define LINE_MOST 300

int image_need_nodes(const struct command_context *ctx, const struct strlist *names,
		     struct error *err)
{
	const char *name;

	strlist_for_each(name, names) {
		struct node *node;
		int r = profile_need_node(ctx->profile, name, &node, err);

		if (r < 0)
			return r;
	}
	return 0;
}

const struct strlist *image_chosen(const struct strlist *names)
{
	return names->count ? names : NULL;
}

int image_need_awake(const struct command_context *ctx, const char *name, struct node **ret_node,
		     struct error *err)
{
	struct node *node = profile_primary(ctx->profile);
	int r = name ? profile_need_node(ctx->profile, name, &node, err) : 0;

	if (r < 0)
		return r;
	if (!node || cluster_node_state(ctx->profile, node) != NODE_RUNNING) {
		(void)error_because(err, &reason_node_not_running, -ESRCH, "node '%s' does not run",
				    node ? node->name : "(primary)");
		return node ? error_hint(err, -ESRCH, "'manykube node start %s' starts it",
					 node->name)
			    : -ESRCH;
	}
	*ret_node = node;
	return cluster_node_need_awake(ctx->profile, node, err);
}

int image_complete_names(char *const *operands, struct strlist *ret, struct error *err)
{
	for (; *operands; operands++) {
		cleanup_free char *name = NULL;
		int r;

		/* An id or a digest. */
		if (strncmp(*operands, "sha256:", 7) == 0) {
			strlist_add(ret, *operands);
			continue;
		}
		r = image_name_complete(*operands, &name, err);
		if (r < 0)
			return r;
		strlist_add(ret, name);
	}
	return 0;
}

int image_refuse_kubernetes(const struct command_context *ctx, const struct strlist *names,
			    struct error *err)
{
	cleanup_with(strlist_release) struct strlist own = STRLIST_INIT;
	const char *name;
	int r = own_images_list_kubernetes(ctx->profile, &own, err);

	if (r < 0)
		return r;
	strlist_for_each(name, names)
		if (strlist_has(&own, name))
			return error_because(err, &reason_usage, -EINVAL,
					     "'%s' is one of Kubernetes' own images, which the "
					     "cluster needs as it is",
					     name);
	return 0;
}

/* NAME as people write it: app:latest for docker.io/library/app:latest. */
static const char *shorten_name(const char *name)
{
	static const char *const usual[] = { "docker.io/library/", "docker.io/" };

	for (size_t i = 0; i < ARRAY_SIZE(usual); i++)
		if (strncmp(name, usual[i], strlen(usual[i])) == 0)
			return name + strlen(usual[i]);
	return name;
}

void image_list_names(const struct image_list *list, struct strlist *ret)
{
	for (size_t i = 0; i < list->count; i++) {
		const struct image *image = &list->items[i];

		if (image->names.count)
			strlist_add(ret, shorten_name(image->names.items[0]));
		else
			strlist_addf(ret, "sha256:%.12s", image->config.digest);
	}
}

int image_spread(struct command_context *ctx, const struct strlist *nodes,
		 const struct strlist *images, const char *done, struct observer *observer,
		 struct error *err)
{
	cleanup_with(own_images_outcome_release) struct own_images_outcome outcome =
		OWN_IMAGES_OUTCOME_INIT;
	cleanup_free char *shown = strlist_join_some(images, 5);
	cleanup_free char *waiting = NULL;
	cleanup_free char *ready = NULL;
	int r = own_images_spread(ctx->profile, nodes, observer, &outcome, err);

	if (r < 0)
		return r;
	waiting = strlist_join(&outcome.waiting, ", ");
	ready = strlist_join(&outcome.ready, ", ");
	if (outcome.waiting.count)
		log_warning("%s %s not running or paused, and will be updated at the next start",
			    waiting, outcome.waiting.count == 1 ? "is" : "are");
	if (!ctx->quiet || events_on_stdout())
		say_done("%s %s on %s%s.", done, shown,
			 outcome.ready.count == ctx->profile->node_count ? "all nodes: "
			 : outcome.ready.count == 0                      ? "no node"
									 : "",
			 ready);
	return 0;
}

void image_program_release(struct image_program *program)
{
	process_release(&program->process);
	cluster_node_release(&program->at);
	cleanup_fd_(&program->said);
	*program = IMAGE_PROGRAM_INIT;
}

int image_program_start(const struct command_context *ctx, const struct node *node,
			char *const *argv, int output, uint64_t most, struct image_program *ret,
			struct error *err)
{
	struct process_options options = { .no_stdin = true,
					   .dies_with_us = true,
					   .stderr_most = SAID_MOST };
	int r = cluster_node_open(ctx->profile, node, &ret->at, err);

	if (r < 0)
		return r;
	ret->said = memfd_create("said", MFD_CLOEXEC);
	if (ret->said < 0)
		return error_sys(err, "cannot create a file for the output of '%s'", argv[0]);
	options.stderr_fd = ret->said;
	options.stdout_fd = output >= 0 ? output : ret->said;
	options.stdout_most = output >= 0 ? most : SAID_MOST;
	options.stdout_stops = output >= 0;
	return ret->at.driver->spawn(&ret->at.spec, argv, &options, &ret->process, err);
}

/* The last line that PROGRAM said, for the caller to free. */
static char *last_line(const struct image_program *program)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	const char *line;

	if (lseek(program->said, 0, SEEK_SET) < 0 ||
	    file_read_fd(program->said, 2 * SAID_MOST, &text, NULL) < 0)
		return xstrdup("");
	strbuf_trim_end(&text);
	line = strrchr(text.text, '\n');
	return xstrndup(line ? line + 1 : text.text, LINE_MOST);
}

int image_program_end(struct image_program *program, int r, const char *what, struct error *err)
{
	cleanup_free char *line = NULL;
	/* It ends soon if nobody reads its output any more. */
	int status = process_wait(&program->process, r < 0 ? clock_now_ms() + 1000 : 0,
				  r < 0 ? NULL : err);

	if (status <= 0)
		return r < 0 ? r : status;
	line = last_line(program);
	error_clear(err);
	return error_because(err, &reason_node_failed, -EIO, "node '%s' cannot %s: %s",
			     program->at.spec.name, what, *line ? line : "it does not say why");
}

int image_add_from_node(struct command_context *ctx, const struct node *node, char *const *argv,
			const char *name, const struct strlist *nodes, struct observer *observer,
			struct image_list *ret_added, struct error *err)
{
	cleanup_with(image_program_release) struct image_program program = IMAGE_PROGRAM_INIT;
	cleanup_with(strlist_release) struct strlist only = STRLIST_INIT;
	cleanup_free char *what = xasprintf("get '%s'", name);
	cleanup_fd int output = -1;
	int ends[2];
	int r;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return error_sys(err, "cannot make a pipe");
	output = ends[0];
	r = image_program_start(ctx, node, argv, ends[1], 0, &program, err);
	(void)close(ends[1]);
	if (r < 0)
		return r;
	strlist_add(&only, name);
	r = own_images_add(ctx->profile, output, name, &only, nodes, observer, ret_added, err);
	cleanup_fd_(&output);
	return image_program_end(&program, r, what, err);
}
