/* Places in the directory of a layer. */

#include "image/unpack-path.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/strbuf.h"
#include "image/parents.h"
#include "image/room.h"

int unpack_path_enter(int top, const char *path, int flags)
{
	struct open_how how = {
		.flags = (unsigned)(flags | O_CLOEXEC | O_NOCTTY),
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV,
	};
	int fd;

	/* EAGAIN: something in the file system was renamed meanwhile. */
	do
		fd = (int)syscall(SYS_openat2, top, path, &how, sizeof(how));
	while (fd < 0 && errno == EAGAIN);
	return fd;
}

static void forget_parent(struct unpack_path *place)
{
	if (place->parent_fd >= 0)
		(void)close(place->parent_fd);
	free(place->parent);
	place->parent = NULL;
	place->parent_fd = -1;
}

void unpack_path_release(struct unpack_path *place)
{
	forget_parent(place);
	strlist_release(&place->made);
	*place = UNPACK_PATH_INIT;
}

/* Open the directory PATH, making what is missing of it. */
static int make_dirs(struct unpack_path *place, const char *path, struct error *err)
{
	int top = place->top;
	cleanup_free char *part = xstrdup(path);
	cleanup_fd int above = unpack_path_enter(top, ".", O_RDONLY | O_DIRECTORY);
	char *name = part;

	while (above >= 0) {
		char *slash = strchr(name, '/');
		int fd;

		if (slash)
			*slash = '\0';
		fd = unpack_path_enter(top, part, O_RDONLY | O_DIRECTORY);
		if (fd < 0 && errno == ENOENT) {
			int made = mkdirat(above, name, 0755);

			if (made < 0 && errno == EEXIST)
				return error_set(err, -EBADMSG,
						 "'%s' is a symbolic link to a directory that is "
						 "not in the same layer: files in it are not "
						 "supported",
						 part);
			if (made < 0)
				break;
			if (place->made.count < PARENTS_MAX)
				strlist_add(&place->made, part);
			fd = openat(above, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		}
		if (fd < 0)
			break;
		(void)close(above);
		above = fd;
		if (!slash)
			return take_fd(above);
		*slash = '/';
		name = slash + 1;
	}
	return room_error(err, "cannot make the directory '%s'", path);
}

int unpack_path_open(struct unpack_path *place, const char *path, bool make, int *ret_fd,
		     const char **ret_name, struct error *err)
{
	const char *slash = strrchr(path, '/');
	cleanup_free char *parent = slash ? xstrndup(path, (size_t)(slash - path)) : xstrdup(".");
	int fd;

	*ret_name = slash ? slash + 1 : path;
	if (text_is(place->parent, parent)) {
		*ret_fd = place->parent_fd;
		return 0;
	}
	fd = unpack_path_enter(place->top, parent, O_RDONLY | O_DIRECTORY);
	if (fd < 0 && errno == ENOENT && make) {
		fd = make_dirs(place, parent, err);
		if (fd < 0)
			return fd;
	}
	if (fd < 0)
		return error_sys(err, "cannot open the directory '%s'", parent);
	forget_parent(place);
	place->parent = take_ptr(parent);
	place->parent_fd = fd;
	*ret_fd = fd;
	return 0;
}
