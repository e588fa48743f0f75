/* What a native node has of the host by --mount. */

#include "node/native-mounts.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "host/namespace.h"

int native_mounts_open(const struct node_spec *spec, int userns_fd, struct native_mounts *ret,
		       struct error *err)
{
	int r = 0;

	ret->specs = spec->mounts;
	ret->trees = xcalloc(spec->mount_count, sizeof(*ret->trees));
	for (size_t i = 0; r == 0 && i < spec->mount_count; i++) {
		r = namespace_map_tree(spec->mounts[i].host, userns_fd, spec->mounts[i].read_only,
				       &ret->trees[i], err);
		if (r == 0)
			ret->count++;
	}
	return r;
}

void native_mounts_release(struct native_mounts *mounts)
{
	for (size_t i = 0; i < mounts->count; i++)
		(void)close(mounts->trees[i]);
	free(mounts->trees);
	*mounts = NATIVE_MOUNTS_INIT;
}

/* An empty file or folder PATH, as the mount on it will be. */
static int make_place(const char *path, bool is_folder, struct error *err)
{
	cleanup_fd int fd = -1;

	if (is_folder)
		return file_make_dirs(path, 0755, err);
	/* Where nothing can be written there may be a file all the same. */
	if (file_exists(path))
		return 0;
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	return fd < 0 ? error_sys(err, "cannot make '%s'", path) : 0;
}

/* Whether PATH below FD is a folder; FD itself if it is "". */
static bool is_folder(int fd, const char *path)
{
	struct stat st;

	return fstatat(fd, path, &st, AT_EMPTY_PATH) == 0 && S_ISDIR(st.st_mode);
}

int native_mounts_stage(const struct native_mounts *mounts, const char *folder, struct error *err)
{
	int r = file_make_dirs(folder, 0755, err);

	for (size_t i = 0; r == 0 && i < mounts->count; i++) {
		cleanup_free char *path = xasprintf("%s/%zu", folder, i);

		/* By its path it may not be found any more: the stage covers a folder of the host.
		 */
		r = make_place(path, is_folder(mounts->trees[i], ""), err);
		if (r == 0 &&
		    move_mount(mounts->trees[i], "", AT_FDCWD, path, MOVE_MOUNT_F_EMPTY_PATH) < 0)
			r = error_sys(err, "cannot attach '%s'", mounts->specs[i].host);
	}
	return r;
}

static int place_one(const struct node_mount *spec, const char *from, struct error *err)
{
	cleanup_free char *parent = xstrndup(spec->node,
					     (size_t)(strrchr(spec->node, '/') - spec->node));
	int r = *parent ? file_make_dirs(parent, 0755, err) : 0;

	if (r == 0)
		r = make_place(spec->node, is_folder(AT_FDCWD, from), err);
	if (r == 0 && mount(from, spec->node, NULL, MS_BIND, NULL) < 0)
		r = error_sys(err, "cannot mount it");
	return r < 0 ? error_prefix(err, r, "'%s' as the node's '%s'", spec->host, spec->node) : 0;
}

int native_mounts_place(const struct native_mounts *mounts, const char *folder, struct error *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < mounts->count; i++) {
		cleanup_free char *from = xasprintf("%s/%zu", folder, i);

		r = place_one(&mounts->specs[i], from, err);
	}
	return r;
}
