/* Asking a node for its images, and running programs on them there. */

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/process.h"
#include "cmd/image-nodes.h"

/* How much of what a program says is kept, and shown. */
#define SAID_MOST (32 << 10)
#define LINE_MOST 300

int image_find_on_node(const struct command_context *ctx, const struct node *node, const char *word,
		       char **ret_name, struct error *err)
{
	cleanup_with(node_image_list_release) struct node_image_list list = NODE_IMAGE_LIST_INIT;
	int r = image_list_node(ctx, node, &list, err);

	if (r < 0)
		return r;
	for (size_t i = 0; i < list.count; i++)
		if (node_image_is(&list.items[i], word)) {
			*ret_name = xstrdup(list.items[i].name);
			return 0;
		}
	(void)error_because(err, &reason_node_path, -ENOENT,
			    "node '%s' does not have the image '%s'", node->name, word);
	return error_hint(err, -ENOENT, "'manykube image ls' lists the images");
}

int image_list_node(const struct command_context *ctx, const struct node *node,
		    struct node_image_list *ret, struct error *err)
{
	if (!node_images_is_hung(ctx->profile, node))
		return node_images_list(ctx->profile, node, ret, err);
	(void)error_because(err, &reason_node_failed, -ETIMEDOUT,
			    "the containerd of node '%s' does not answer", node->name);
	return error_hint(err, -ETIMEDOUT, "'manykube start' restarts it");
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
	if (strncmp(line, "ctr: ", 5) == 0)
		memmove(line, line + 5, strlen(line + 5) + 1);
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
