/* The persistent files of a native node. */

#include "driver/native-create.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/below.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/log.h"
#include "driver/native-disk.h"
#include "driver/tree.h"
#include "payload/payload.h"

/*
 * Whether a node gets its own copy of a file of the image store.  Files whose owner keeps the node
 * from writing them are shared; others, including databases, are copied.  On a node's own disk, all
 * files are copies, because hard links are not possible.
 */
static bool is_own(arg_unused const char *name, const struct stat *st)
{
	return st->st_uid != PAYLOAD_SHARED_UID;
}

static bool has_entry(int dir, const char *name)
{
	struct stat st;

	return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

static int create_images(const struct node_spec *spec, int lib, struct error *err)
{
	cleanup_free char *store = xasprintf("%s/store", spec->payload);
	int r;

	/* It may be a link, if the node's root moved the images elsewhere. */
	if (has_entry(lib, "containerd"))
		return 0;
	r = file_remove_tree_at(lib, "containerd.part", err);
	if (r == 0)
		r = file_link_tree_at(AT_FDCWD, store, lib, "containerd.part", is_own, err);
	if (r == 0 && renameat(lib, "containerd.part", lib, "containerd") < 0)
		r = error_sys(err, "cannot make 'containerd'");
	return r < 0 ? error_prefix(err, r, "the images of node '%s'", spec->name) : 0;
}

/*
 * Make the directory PATH in TREE unless it exists.  Also succeeds if a component is not a
 * directory: the node's root made it, perhaps on purpose, and services report an error if they
 * cannot use it.
 */
static int make_missing(const struct node_spec *spec, const char *tree, const char *path,
			mode_t mode, int *ret_fd, struct error *err)
{
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	int r = below_make_dir(tree, path, mode, ret_fd, &why);

	if (r == -ENOTDIR || r == -ELOOP) {
		log_debug("/%s of node '%s' is not a directory and is left alone", path,
			  spec->name);
		return 0;
	}
	return r < 0 ? error_set(err, r, "node '%s': %s", spec->name, why.text) : 0;
}

static int fill_tree(const struct node_spec *spec, struct error *err)
{
	static const struct {
		const char *path;
		mode_t mode;
	} dirs[] = {
		{ "var/lib/kubelet", 0750 }, { "var/lib/etcd", 0700 },       { "var/log", 0755 },
		{ "var/log/pods", 0755 },    { "var/log/containers", 0755 }, { "var/tmp", 01777 },
		{ "var/cache", 0755 },
	};
	cleanup_free char *tree = node_tree_path(spec->dir);
	cleanup_fd int var = -1;
	cleanup_fd int lib = -1;
	int r = below_make_dir(tree, "var", 0755, &var, err);

	if (r == 0)
		r = make_missing(spec, tree, "var/lib", 0755, &lib, err);
	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(dirs); i++)
		r = make_missing(spec, tree, dirs[i].path, dirs[i].mode, NULL, err);
	if (r == 0 && symlinkat("/run", var, "run") < 0 && errno != EEXIST)
		r = error_sys(err, "cannot make the link '/var/run' of node '%s'", spec->name);
	return r < 0 || lib < 0 ? r : create_images(spec, lib, err);
}

int native_create(const struct node_spec *spec, struct error *err)
{
	int r;

	/* A running node has everything, and its root may be changing files. */
	if (node_driver_native.query(spec) == NODE_RUNNING)
		return native_disk_up(spec, err);
	r = node_tree_make(spec->dir, err);
	if (r == 0)
		r = native_disk_up(spec, err);
	if (r == 0)
		r = fill_tree(spec, err);
	return r == -ENOSPC ? error_reason(err, r, &reason_storage) : r;
}
