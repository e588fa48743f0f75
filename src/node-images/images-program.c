/* Requests about images to nodes with a kernel of their own, where only programs can be run. */

#include "node-images/images-program.h"

#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "node-images/images-inside.h"

int images_program_start(const struct cluster_node *at, const struct node_images_request *request,
			 struct process *ret_process, int *ret_answer, struct error *err)
{
	static char script[] =
#include "images.sh.inc"
		;
	cleanup_with(strlist_release) struct strlist argv = STRLIST_INIT;
	cleanup_fd int answer = memfd_create("images", MFD_CLOEXEC);
	struct process_options options = { .no_stdin = true,
					   .stdout_fd = answer,
					   .stdout_most = IMAGES_ANSWER_BYTES,
					   .dies_with_us = true };
	int r;

	if (answer < 0)
		return error_sys(err, "cannot create a file in memory");
	strlist_add_all(&argv, ARGV("sh", "-c", script, "sh"));
	switch (request->verb) {
	case NODE_IMAGES_INSTALL:
		return error_set(err, -ENOTSUP, "nodes of the driver '%s' have no shared images",
				 at->driver->name);
	case NODE_IMAGES_LIST:
		strlist_add(&argv, "list");
		break;
	case NODE_IMAGES_TAG:
		strlist_add_all(&argv, ARGV("tag", (char *)(uintptr_t)request->from,
					    (char *)(uintptr_t)request->to));
		break;
	case NODE_IMAGES_REMOVE:
		strlist_add(&argv, "remove");
		strlist_add_all(&argv, request->names->items);
		break;
	}
	r = at->driver->spawn(&at->spec, argv.items, &options, ret_process, err);
	if (r == 0)
		*ret_answer = take_fd(answer);
	return r;
}
