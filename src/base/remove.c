/*
 * Removal of directory trees.
 *
 * A tree may have been made by a node's root and be a hundred thousand levels deep.  Recursion
 * therefore stops at FILE_TREE_LEVELS, which bounds descriptors and stack.
 */

#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"

/* Open the directory NAME in PARENT; -ELOOP or -ENOTDIR for a link, -EXDEV for another mount. */
static int open_directory(int parent, const char *name, DIR **ret)
{
	struct open_how how = {
		.flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
		.resolve = RESOLVE_NO_XDEV | RESOLVE_NO_SYMLINKS,
	};
	int fd = (int)syscall(SYS_openat2, parent, name, &how, sizeof(how));

	if (fd < 0)
		return -errno;
	*ret = fdopendir(fd);
	if (!*ret) {
		(void)close(fd);
		return -ENOMEM;
	}
	return 0;
}

/*
 * The state of a removal.  A directory deeper than FILE_TREE_LEVELS below the top is moved to the
 * top, under a numbered name, and removed from there in the next pass.
 */
struct removal {
	int top;
	unsigned long moves;
};

static int move_to_top(struct removal *removal, int parent, const char *name)
{
	for (;;) {
		char target[32];

		(void)snprintf(target, sizeof(target), ".removed-%lu", removal->moves++);
		if (renameat(parent, name, removal->top, target) == 0)
			return 0;
		/* Try the next number if the name is taken by something rename()
		 * does not replace. */
		if (errno != ENOTEMPTY && errno != EEXIST && errno != ENOTDIR)
			return -errno;
	}
}

static int remove_below(struct removal *removal, int parent, const char *name, unsigned level);

static int empty_directory(struct removal *removal, DIR *stream, unsigned level)
{
	struct dirent *entry;
	int r;

	while ((entry = readdir(stream))) {
		if (path_is_dots(entry->d_name))
			continue;
		r = remove_below(removal, dirfd(stream), entry->d_name, level + 1);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Remove NAME in PARENT, or move it to the top. */
static int remove_below(struct removal *removal, int parent, const char *name, unsigned level)
{
	cleanup_dir DIR *stream = NULL;
	int r;

	if (unlinkat(parent, name, 0) == 0 || errno == ENOENT)
		return 0;
	if (errno != EISDIR && errno != EPERM)
		return -errno;
	if (level > FILE_TREE_LEVELS) {
		if (unlinkat(parent, name, AT_REMOVEDIR) == 0 || errno == ENOENT)
			return 0;
		return errno == ENOTEMPTY || errno == EEXIST ? move_to_top(removal, parent, name)
							     : -errno;
	}
	r = open_directory(parent, name, &stream);
	if (r == 0)
		r = empty_directory(removal, stream, level);
	if (r < 0)
		return r == -EXDEV ? -EBUSY : r;
	if (unlinkat(parent, name, AT_REMOVEDIR) < 0 && errno != ENOENT)
		return -errno;
	return 0;
}

static int remove_tree(int parent, const char *name)
{
	cleanup_dir DIR *stream = NULL;
	struct removal removal = { 0 };
	unsigned long before;
	int fd;
	int r;

	if (unlinkat(parent, name, 0) == 0 || errno == ENOENT)
		return 0;
	if (errno != EISDIR && errno != EPERM)
		return -errno;
	fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	stream = fdopendir(fd);
	if (!stream) {
		(void)close(fd);
		return -ENOMEM;
	}
	removal.top = fd;
	/* Every pass that moves directories leaves fewer levels, so this ends. */
	do {
		before = removal.moves;
		rewinddir(stream);
		r = empty_directory(&removal, stream, 0);
	} while (r == 0 && removal.moves > before);
	if (r == 0 && unlinkat(parent, name, AT_REMOVEDIR) < 0 && errno != ENOENT)
		r = -errno;
	return r;
}

int file_remove_tree_at(int dir, const char *name, struct error *err)
{
	int r = remove_tree(dir, name);

	if (r < 0) {
		errno = -r;
		return error_sys(err, "cannot remove '%s'", name);
	}
	return 0;
}

int file_remove_tree(const char *path, struct error *err)
{
	return file_remove_tree_at(AT_FDCWD, path, err);
}
