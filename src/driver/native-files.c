/*
 * The files of native nodes.
 *
 * They are in the node's tree on the host, so reading them needs no process in the node.  The
 * node's root can change them at any time, so only base/below.h and base/tail.h access them, with
 * descriptors that do not leave the tree.
 */

#include "driver/native-files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/below.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "driver/driver.h"
#include "driver/native-disk.h"
#include "driver/native-program.h"
#include "driver/tree.h"

/* PATH of a node without leading slashes, for base/below.h. */
static const char *in_tree(const char *path)
{
	return path + strspn(path, "/");
}

static int read_agent_state(const struct node_spec *spec, struct strbuf *ret, struct error *err)
{
	return node_tree_read_state(spec->dir, ret, err);
}

static int look_at_file(const struct node_spec *spec, const char *path, struct node_file_info *ret,
			struct error *err)
{
	cleanup_free char *tree = node_tree_path(spec->dir);
	cleanup_fd int fd = -1;
	struct stat st;
	int r = below_open(tree, in_tree(path), 0, &fd, err);

	if (r < 0)
		return r;
	if (fstat(fd, &st) < 0)
		return error_sys(err, "cannot stat '%s'", path);
	*ret = (struct node_file_info){ .is_directory = S_ISDIR(st.st_mode),
					.size_bytes = (uint64_t)st.st_size,
					.changed = st.st_mtim };
	return 0;
}

static int list_directory(const struct node_spec *spec, const char *path, size_t most,
			  struct strlist *ret, struct error *err)
{
	cleanup_free char *tree = node_tree_path(spec->dir);

	return below_list_most(tree, in_tree(path), most, ret, err);
}

static int read_file(const struct node_spec *spec, const char *path, unsigned flags, size_t limit,
		     struct strbuf *ret, struct error *err)
{
	cleanup_free char *tree = node_tree_path(spec->dir);
	cleanup_free char *found = NULL;
	cleanup_fd int fd = -1;
	int r;

	if (!(flags & NODE_READ_LINKS))
		return below_read(tree, in_tree(path), limit, ret, err);
	r = below_find(tree, in_tree(path), &fd, &found, err);
	return r < 0 ? r : file_read(found, limit, ret, err);
}

static int read_end(const struct node_spec *spec, const char *path, size_t most, struct tail *tail,
		    struct strbuf *ret, struct error *err)
{
	cleanup_free char *tree = node_tree_path(spec->dir);

	return tail_end(tree, in_tree(path), most, tail, ret, err);
}

static int read_more(const struct node_spec *spec, const char *path, size_t most, struct tail *tail,
		     struct strbuf *ret, struct error *err)
{
	cleanup_free char *tree = node_tree_path(spec->dir);

	return tail_more(tree, in_tree(path), most, tail, ret, err);
}

static int put_file(const struct node_spec *spec, const char *path, const void *data, size_t len,
		    mode_t mode, struct error *err)
{
	cleanup_free char *tree = node_tree_path(spec->dir);

	return below_put(tree, in_tree(path), data, len, mode, err);
}

static int make_link(const struct node_spec *spec, const char *target, const char *path,
		     struct error *err)
{
	cleanup_free char *tree = node_tree_path(spec->dir);
	cleanup_fd int parent = -1;
	const char *name;
	int r = below_open_parent(tree, in_tree(path), &parent, &name, err);

	if (r == 0 && symlinkat(target, parent, name) < 0 && errno != EEXIST)
		r = error_sys(err, "cannot make the link '%s/%s'", tree, in_tree(path));
	return r;
}

static int make_directory(const struct node_spec *spec, const char *path, mode_t mode,
			  struct error *err)
{
	cleanup_free char *tree = node_tree_path(spec->dir);

	return below_make_dir(tree, in_tree(path), mode, NULL, err);
}

/* Open the parent directory of PATH; -ENOENT if it is missing.
 * RET_NAME is PATH's last component. */
static int open_present_parent(const char *tree, const char *path, int *ret_fd,
			       const char **ret_name, struct error *err)
{
	const char *slash = strrchr(in_tree(path), '/');
	cleanup_free char *parent = slash ? xstrndup(in_tree(path), (size_t)(slash - in_tree(path)))
					  : xstrdup(".");

	*ret_name = slash ? slash + 1 : in_tree(path);
	return below_open(tree, parent, O_DIRECTORY, ret_fd, err);
}

static int rename_file(const struct node_spec *spec, const char *from, const char *to,
		       struct error *err)
{
	cleanup_free char *tree = node_tree_path(spec->dir);
	cleanup_fd int from_fd = -1;
	cleanup_fd int to_fd = -1;
	const char *from_name;
	const char *to_name;
	int r = open_present_parent(tree, from, &from_fd, &from_name, err);

	if (r == 0)
		r = below_open_parent(tree, in_tree(to), &to_fd, &to_name, err);
	if (r == 0 && renameat(from_fd, from_name, to_fd, to_name) < 0)
		r = error_sys(err, "cannot replace '%s/%s'", tree, in_tree(to));
	return r;
}

static int remove_file(const struct node_spec *spec, const char *path, struct error *err)
{
	cleanup_free char *tree = node_tree_path(spec->dir);
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	cleanup_fd int parent = -1;
	const char *name;
	int r = open_present_parent(tree, path, &parent, &name, &why);

	if (r == -ENOENT)
		return 0;
	if (r < 0)
		return error_move(err, r, &why);
	if (unlinkat(parent, name, 0) == 0 || errno == ENOENT ||
	    (errno == EISDIR && unlinkat(parent, name, AT_REMOVEDIR) == 0))
		return 0;
	return error_sys(err, "cannot remove '%s/%s'", tree, in_tree(path));
}

static const char *const host_logs[] = { "agent.log", "agent.log.1", "disk.log", "state", NULL };

const struct node_files native_files = {
	.host_logs = host_logs,
	.show = native_disk_show,
	.read_state = read_agent_state,
	.look = look_at_file,
	.list = list_directory,
	.read = read_file,
	.read_end = read_end,
	.read_more = read_more,
	.put = put_file,
	.link = make_link,
	.make_directory = make_directory,
	.rename = rename_file,
	.remove = remove_file,
	.spawn = native_program_spawn,
};
