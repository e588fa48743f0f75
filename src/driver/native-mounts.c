/* Mounts of the host's directories and files in a native node (--mount). */

#include "driver/native-mounts.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/below.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "driver/mount-owner.h"
#include "host/namespace.h"

/* Make a user namespace that maps owners for the writable mount of PATH, open as FD; none if owners
 * are the same on both sides. */
static int open_owners(int fd, const char *path, uid_t uid_base, int *ret_userns, struct error *err)
{
	cleanup_with(mount_owner_release) struct mount_owner owner = MOUNT_OWNER_INIT;
	cleanup_free char *users = NULL;
	cleanup_free char *groups = NULL;
	int r = mount_owner_find(fd, path, &owner, err);

	if (r < 0 || owner.same)
		return r;
	users = mount_owner_users(&owner, uid_base);
	groups = mount_owner_groups(&owner, uid_base);
	return namespace_new_mapped_user(uid_base, users, groups, ret_userns, err);
}

/* Open the source of MOUNT.  It may be in a directory that nodes can write to, where links are not
 * followed. */
static int open_source(const struct node_spec *spec, const struct node_mount *mount, int *ret_fd,
		       struct error *err)
{
	int r = below_follow(mount->host, &spec->writable, ret_fd, err);

	if (r < 0)
		return error_hint(
			err, error_reason(err, r, &reason_host_config),
			"check '%s', and mount another path if somebody else replaced it with a link",
			mount->host);
	return 0;
}

static int open_mount(const struct node_spec *spec, const struct node_mount *mount, int userns_fd,
		      uid_t uid_base, int *ret_tree, struct error *err)
{
	cleanup_fd int fd = -1;
	cleanup_fd int owners = -1;
	int r = open_source(spec, mount, &fd, err);

	if (r == 0 && !mount->read_only)
		r = open_owners(fd, mount->host, uid_base, &owners, err);
	return r < 0 ? r
		     : namespace_map_opened(fd, mount->host, owners >= 0 ? owners : userns_fd,
					    mount->read_only, ret_tree, err);
}

int native_mounts_open(const struct node_spec *spec, int userns_fd, uid_t uid_base,
		       struct native_mounts *ret, struct error *err)
{
	int r = 0;

	ret->specs = spec->mounts;
	ret->trees = xcalloc(spec->mount_count, sizeof(*ret->trees));
	for (size_t i = 0; r == 0 && i < spec->mount_count; i++) {
		r = open_mount(spec, &spec->mounts[i], userns_fd, uid_base, &ret->trees[i], err);
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

/* Make PATH, an empty directory or file, as a mount point. */
static int make_place(const char *path, bool is_dir, struct error *err)
{
	cleanup_fd int fd = -1;

	if (is_dir)
		return file_make_dirs(path, 0755, err);
	/* It may exist on a file system that cannot be written. */
	if (file_exists(path))
		return 0;
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	return fd < 0 ? error_sys(err, "cannot make '%s'", path) : 0;
}

/* Whether PATH in FD, or FD itself if PATH is "", is a directory. */
static bool is_dir(int fd, const char *path)
{
	struct stat st;

	return fstatat(fd, path, &st, AT_EMPTY_PATH) == 0 && S_ISDIR(st.st_mode);
}

int native_mounts_stage(const struct native_mounts *mounts, const char *dir, struct error *err)
{
	int r = file_make_dirs(dir, 0755, err);

	for (size_t i = 0; r == 0 && i < mounts->count; i++) {
		cleanup_free char *path = xasprintf("%s/%zu", dir, i);

		/* Use the open tree, not its path: the stage covers a directory of the host. */
		r = make_place(path, is_dir(mounts->trees[i], ""), err);
		if (r == 0 &&
		    move_mount(mounts->trees[i], "", AT_FDCWD, path, MOVE_MOUNT_F_EMPTY_PATH) < 0)
			r = error_sys(err, "cannot attach '%s'", mounts->specs[i].host);
	}
	return r;
}

int native_mounts_pick_up(const struct native_mounts *mounts, const char *dir, struct error *err)
{
	for (size_t i = 0; i < mounts->count; i++) {
		cleanup_free char *path = xasprintf("%s/%zu", dir, i);
		int fd = open_tree(AT_FDCWD, path, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);

		if (fd < 0)
			return error_sys(err, "cannot open '%s'", mounts->specs[i].host);
		(void)close(mounts->trees[i]);
		mounts->trees[i] = fd;
	}
	return 0;
}

/* Open PATH in the node, without magic links of /proc, which could lead outside. */
static int open_place(const char *path, int flags)
{
	struct open_how how = {
		.flags = (unsigned)(O_PATH | O_CLOEXEC | flags),
		.resolve = RESOLVE_NO_MAGICLINKS,
	};

	return (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));
}

/* Open PATH, whose parent is open as DIR and whose last component is NAME, making it if needed. */
static int make_part(int dir, const char *path, const char *name, bool is_dir)
{
	int flags = is_dir ? O_DIRECTORY : 0;
	int fd = open_place(path, flags);

	if (fd >= 0 || errno != ENOENT)
		return fd;
	if (is_dir)
		return mkdirat(dir, name, 0755) < 0
			       ? -1
			       : openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC | flags);
	return openat(dir, name, O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
}

/* Open the mount point PATH, making it and its parent directories if needed. */
static int open_mount_point(const char *path, bool is_dir)
{
	cleanup_free char *copy = xstrdup(path);
	cleanup_fd int dir = open_place("/", O_DIRECTORY);
	char *name = copy + 1;
	char *slash;

	while (dir >= 0 && (slash = strchr(name, '/'))) {
		int next;

		*slash = '\0';
		next = make_part(dir, copy, name, true);
		*slash = '/';
		(void)close(dir);
		dir = next;
		name = slash + 1;
	}
	return dir < 0 ? -1 : make_part(dir, copy, name, is_dir);
}

static int place_one(const struct node_mount *spec, int tree, struct error *err)
{
	cleanup_fd int place = open_mount_point(spec->node, is_dir(tree, ""));
	int r = 0;

	if (place < 0)
		r = error_sys(err, "cannot make the mount point");
	else if (move_mount(tree, "", place, "",
			    MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) < 0)
		r = error_sys(err, "cannot mount it");
	return r < 0 ? error_prefix(err, r, "mounting '%s' on the node's '%s'", spec->host,
				    spec->node)
		     : 0;
}

int native_mounts_place(const struct native_mounts *mounts, struct error *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < mounts->count; i++)
		r = place_one(&mounts->specs[i], mounts->trees[i], err);
	return r;
}
