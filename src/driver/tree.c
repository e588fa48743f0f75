/* The location of a node's files on the host. */

#include "driver/tree.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/below.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "host/disk.h"

#define TREE "tree"

static const struct {
	const char *name;
	mode_t mode;
} parts[] = {
	{ "etc", 0755 }, { "var", 0755 }, { "root", 0700 }, { "home", 0755 },
	{ "srv", 0755 }, { "mnt", 0755 }, { "usr", 0755 },  { "usr-work", 0755 },
};

static bool has_entry(int dir, const char *name)
{
	struct stat st;

	return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Whether the directories are still in the place of earlier versions. */
static bool is_old(const char *dir)
{
	cleanup_fd int fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);

	return fd >= 0 && !has_entry(fd, TREE) && has_entry(fd, "etc");
}

char *node_tree_path(const char *dir)
{
	return is_old(dir) ? xstrdup(dir) : xasprintf("%s/" TREE, dir);
}

/* Move the directories that an earlier version made in DIR, open as FD, to TREE. */
static int move_old(const char *dir, int fd, int tree, struct error *err)
{
	int r;

	if (!has_entry(fd, "etc") && !has_entry(fd, "var") && !has_entry(fd, "usr-work"))
		return 0;
	/* A mount on var, left by a killed node, would prevent the move.  The contents of run are
	 * made again at every start. */
	r = disk_unmount_below(dir, err);
	if (r == 0)
		r = file_remove_tree_at(fd, "run", err);
	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(parts); i++) {
		if (!has_entry(fd, parts[i].name))
			continue;
		if (has_entry(tree, parts[i].name))
			log_warning("'%s/%s' is ignored, because '%s/" TREE "/%s' exists", dir,
				    parts[i].name, dir, parts[i].name);
		else if (renameat(fd, parts[i].name, tree, parts[i].name) < 0)
			r = error_sys(err, "cannot move '%s/%s' to '%s/" TREE "'", dir,
				      parts[i].name, dir);
	}
	return r;
}

/*
 * Let others read DIR, opened as FD, if it was closed when its cluster was moved from a home.  What
 * an earlier version left there must be in the tree: it can have set-user-ID programs of root.
 */
static int open_moved(const char *dir, int fd, struct error *err)
{
	struct stat st;

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		if (has_entry(fd, parts[i].name))
			return 0;
	if (fstat(fd, &st) < 0 || ((st.st_mode & 0777) == 0700 && fchmod(fd, 0755) < 0))
		return error_sys(err, "cannot set the mode of '%s'", dir);
	return 0;
}

int node_tree_make(const char *dir, struct error *err)
{
	cleanup_fd int fd = -1;
	cleanup_fd int tree = -1;
	int r = file_make_dirs(dir, 0755, err);

	if (r < 0)
		return r;
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return error_sys(err, "cannot open '%s'", dir);
	r = below_make_dir(dir, TREE, 0700, &tree, err);
	if (r == 0)
		r = move_old(dir, fd, tree, err);
	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(parts); i++) {
		cleanup_free char *path = xasprintf(TREE "/%s", parts[i].name);

		r = below_make_dir(dir, path, parts[i].mode, NULL, err);
	}
	return r < 0 ? r : open_moved(dir, fd, err);
}

/* How often to read a state that keeps changing. */
#define READS_MOST 20

int node_tree_read_state(const char *dir, struct strbuf *ret, struct error *err)
{
	cleanup_free char *path = xasprintf("%s/state", dir);
	/* An agent of an earlier version writes it inside the node. */
	bool is_inside = is_old(dir) && !file_exists(path);

	/* The agent may be writing: a text that is read twice and does not begin with NUL is
	 * complete. */
	for (int attempt = 0; attempt < READS_MOST; attempt++) {
		cleanup_with(strbuf_release) struct strbuf again = STRBUF_INIT;
		int r = below_read(dir, is_inside ? "run/state" : "state", NODE_STATE_LIMIT, &again,
				   err);

		if (r < 0)
			return r;
		if (again.len > 0 && again.text[0] && again.len == ret->len &&
		    memcmp(again.text, ret->text, again.len) == 0)
			return 0;
		strbuf_reset(ret);
		strbuf_add_mem(ret, again.text, again.len);
		clock_rest_ms(attempt > 1 ? 1 : 0);
	}
	return 0;
}
