/* `image save`: write images to an archive on this host. */

#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/process.h"
#include "base/user-file.h"
#include "cli/say.h"
#include "cmd/image-nodes.h"
#include "image/store.h"
#include "node-images/own-images-store.h"

static struct {
	const char *node;
} arg;

static const struct opt options[] = {
	OPT_STRING('n', "node", &arg.node, "NODE",
		   "take the image from this node (default: what was loaded, else the primary)",
		   .complete = COMPLETE_NODE),
	OPT_END,
};

static const struct opt absent[] = {
	OPT_ABSENT(
		0, "daemon", NULL,
		"write to standard output and load that: 'manykube image save IMAGE - | docker load'",
		.harmless = "false"),
	OPT_ABSENT(0, "remote", NULL, "use 'manykube image push'", .harmless = "false"),
	OPT_END,
};

/* How many bytes a node may write to FD: a part of the disk stays free.  0: any number. */
static uint64_t room_in(int fd)
{
	struct statvfs fs;
	struct stat st;
	uint64_t kept;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || fstatvfs(fd, &fs) < 0)
		return 0;
	kept = MIN((uint64_t)fs.f_blocks / 20, (UINT64_C(1) << 30) / fs.f_frsize);
	return fs.f_bavail > kept ? (fs.f_bavail - kept) * fs.f_frsize : 1;
}

static int check_room(int fd, uint64_t room, struct error *err)
{
	struct stat st;

	if (room == 0 || fstat(fd, &st) < 0 || (uint64_t)st.st_size < room)
		return 0;
	return error_because(err, &reason_storage, -ENOSPC, "there is too little space left");
}

/* Have a node write its image NAME as an archive to FD. */
static int export_from_node(struct command_context *ctx, char *name, int fd, struct error *err)
{
	cleanup_with(image_program_release) struct image_program program = IMAGE_PROGRAM_INIT;
	cleanup_free char *what = xasprintf("export the image '%s'", name);
	cleanup_free char *found = NULL;
	uint64_t room = room_in(fd);
	struct node *node;
	int r = image_need_awake(ctx, arg.node, &node, err);

	if (r == 0)
		r = image_find_on_node(ctx, node, name, &found, err);
	if (r == 0)
		r = image_program_start(
			ctx, node,
			ARGV("ctr", "-n", "k8s.io", "images", "export", "--local", "-", found), fd,
			room, &program, err);
	if (r < 0)
		return r;
	r = image_program_end(&program, 0, what, err);
	return r < 0 ? r : check_room(fd, room, err);
}

static int save_to(struct command_context *ctx, char *name, int fd, struct error *err)
{
	cleanup_with(image_list_release) struct image_list list = IMAGE_LIST_INIT;
	cleanup_free char *dir = own_images_dir(ctx->profile);
	char *only[] = { name, NULL };
	struct image *image = NULL;
	struct image saved;
	int r = arg.node ? 0 : own_images_read(ctx->profile, &list, err);

	if (r < 0)
		return r;
	if (!arg.node)
		image = image_list_find(&list, name);
	if (!image)
		return export_from_node(ctx, name, fd, err);
	saved = *image;
	/* Other names of the same contents are not asked for; an ID stands for all of them. */
	if (strlist_has(&image->names, name))
		saved.names = (struct strlist){ only, 1 };
	return image_store_export(dir, &(struct image_list){ &saved, 1 }, fd, err);
}

static int run(struct command_context *ctx, struct error *err)
{
	cleanup_with(user_file_release) struct user_file file = USER_FILE_INIT;
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	const char *path = ctx->argc > 1 && !text_is(ctx->argv[1], "/dev/stdout") ? ctx->argv[1]
										  : "-";
	int r = image_complete_names(ARGV(ctx->argv[0]), &names, err);

	if (r < 0)
		return r;
	/* 'docker save' takes several images. */
	if (strchr(path, ':') && !strchr(path, '/'))
		return error_because(err, &reason_usage, -EINVAL,
				     "'%s' looks like a second image, but an archive gets one; for "
				     "a file of that name, write './%s'",
				     path, path);
	if (strcmp(path, "-") == 0 && isatty(STDOUT_FILENO))
		return error_because(err, &reason_usage, -EINVAL,
				     "an archive is not written to a terminal: name a file, or "
				     "redirect standard output");
	if (strcmp(path, "-") == 0)
		return save_to(ctx, names.items[0], STDOUT_FILENO, err);
	r = user_file_create(path, 0644, &file, err);
	if (r < 0)
		return r;
	r = user_file_settle(&file, save_to(ctx, names.items[0], file.fd, err), err);
	if (r == 0 && !ctx->quiet)
		say_done("Saved %s to '%s'.", ctx->argv[0], path);
	return r;
}

const struct command cmd_image_save = {
	.name = "save",
	.elsewhere = "export",
	.operands = "IMAGE [FILE|-]",
	.min_operands = 1,
	.max_operands = 2,
	.summary = "write an image to an archive on this host",
	.description = "The archive is an OCI layout that 'docker load' and 'manykube image load' "
		       "read; without FILE, it is written to standard output.",
	.examples = "sudo manykube image save app:latest app.tar\n"
		    "sudo manykube image save app:latest --node=node-2 | docker load\n",
	.complete = COMPLETE_FILE,
	.flags = COMMAND_NEEDS_CLUSTER | COMMAND_NEEDS_ROOT | COMMAND_AUDITED,
	.options = options,
	.absent = absent,
	.run = run,
};
