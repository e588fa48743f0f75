/* The user's own images on nodes. */

#include "node/own-images.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/log.h"
#include "base/process.h"
#include "base/user.h"
#include "node/cluster-node.h"
#include "node/import-images.h"
#include "node/node-files.h"
#include "record/world.h"

#define LIST_MAX_BYTES (1 << 20)

/* The offset of the magic number in a tar archive. */
#define TAR_MAGIC_AT 257

static const char step[] = "loading images";

int own_images_check(const char *path, struct error *err)
{
	cleanup_fd int fd = -1;
	char head[TAR_MAGIC_AT + 5] = "";
	struct stat st;
	int r = user_open(path, O_NONBLOCK, &fd, err);

	if (r < 0)
		return error_reason(err, r, &reason_usage);
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return error_because(err, &reason_usage, -EINVAL, "'%s' is not a regular file",
				     path);
	if (read(fd, head, sizeof(head)) == (ssize_t)sizeof(head) &&
	    (memcmp(head + TAR_MAGIC_AT, "ustar", 5) == 0 || memcmp(head, "\x1f\x8b", 2) == 0))
		return 0;
	return error_because(err, &reason_usage, -EINVAL,
			     "'%s' is not an image archive as written by 'docker save -o FILE'",
			     path);
}

/* "SIZE TIME PATH" of the current archive, for the caller to free; NULL if it does not exist. */
static char *describe_archive(const char *path)
{
	cleanup_with(user_leave) struct user_rights rights = USER_RIGHTS_INIT;
	struct stat st;

	if (user_enter(&rights, NULL) < 0 || stat(path, &st) < 0)
		return NULL;
	return xasprintf("%lld %lld.%09ld %s", (long long)st.st_size, (long long)st.st_mtim.tv_sec,
			 st.st_mtim.tv_nsec, path);
}

static bool has_some_of(const struct strlist *loaded, const char *path)
{
	const char *line;

	strlist_for_each(line, loaded) {
		const char *space = strchr(line, ' ');

		space = space ? strchr(space + 1, ' ') : NULL;
		if (space && strcmp(space + 1, path) == 0)
			return true;
	}
	return false;
}

/* The script waits for containerd, which may just have been started. */
static int load_archive(const struct profile *profile, const struct node *node, const char *path,
			struct error *err)
{
	static char script[] =
#include "load-images.sh.inc"
		;
	cleanup_with(cluster_node_release) struct cluster_node at = CLUSTER_NODE_INIT;
	cleanup_free char *log = xasprintf("%s/logs/images-%s.log", profile->dir, node->name);
	cleanup_fd int fd = -1;
	int r = user_open(path, O_NONBLOCK, &fd, err);

	if (r == 0)
		r = cluster_node_open(profile, node, &at, err);
	return r < 0 ? r : images_feed(&at, ARGV("sh", "-c", script), path, fd, log, err);
}

int own_images_load(const struct profile *profile, const struct node *node,
		    struct observer *observer, struct error *err)
{
	/* In a directory that is removed with the node. */
	cleanup_free char *dir = node_dir(profile, node);
	cleanup_free char *list = xasprintf("%s/images", dir);
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_with(strlist_release) struct strlist loaded = STRLIST_INIT;
	const char *path;
	int r = 0;

	if (profile->images.count == 0)
		return 0;
	(void)file_read(list, LIST_MAX_BYTES, &text, NULL);
	strlist_split(&loaded, text.text, '\n');
	strlist_for_each(path, &profile->images) {
		cleanup_free char *now = describe_archive(path);

		if (!now && !has_some_of(&loaded, path))
			log_warning("'%s' is missing, so node '%s' does not get its images", path,
				    node->name);
		if (!now || strlist_has(&loaded, now))
			continue;
		observe_begin(observer, step, node->name);
		r = load_archive(profile, node, path, err);
		if (r == 0)
			r = file_make_dirs(dir, 0755, err);
		if (r == 0) {
			strbuf_addf(&text, "%s\n", now);
			r = file_put(list, text.text, text.len, 0644, err);
		}
		observe_end(observer, step, node->name, r == 0);
		if (r < 0)
			return r;
		world->after(step);
	}
	return 0;
}
