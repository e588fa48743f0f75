/* A new file of the user. */

#include "base/user-file.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "base/user.h"

/* As many as the kernel follows. */
#define LINKS_MOST 40

static int open_unnamed(int dir, const char *temp, mode_t mode, bool *ret_named)
{
	int fd = openat(dir, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, mode);

	*ret_named = fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL);
	return *ret_named ? openat(dir, temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode) : fd;
}

/* Enter the directory of PLACE, a path from *DIR, and set *RET_NAME, in PLACE, to the rest. */
static int enter_directory_of(const char *place, int *dir, const char **ret_name)
{
	const char *slash = strrchr(place, '/');
	cleanup_free char *above = slash ? xstrndup(place, (size_t)(slash - place) + 1)
					 : xstrdup(".");
	int fd = openat(*dir, above, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (*dir >= 0)
		(void)close(*dir);
	*dir = fd;
	*ret_name = slash ? slash + 1 : place;
	return 0;
}

/* The target of the link NAME in DIR, for the caller to free; NULL if NAME is no link or missing.
 * Owner and target are those of one link, whatever others exchange meanwhile. */
static int read_own_link(int dir, const char *name, char **ret_target)
{
	cleanup_fd int fd = openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	char target[PATH_MAX];
	struct stat st;
	ssize_t len;

	*ret_target = NULL;
	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISLNK(st.st_mode))
		return 0;
	if (st.st_uid != 0 && st.st_uid != path_person_uid())
		return -ELOOP;
	len = readlinkat(fd, "", target, sizeof(target) - 1);
	if (len < 0)
		return -errno;
	target[len] = '\0';
	*ret_target = xstrdup(target);
	return 0;
}

/* Find the directory and the name that PATH leads to through links of the user and of root's. */
static int find_place(const char *path, struct user_file *file)
{
	cleanup_free char *place = xstrdup(path);
	cleanup_fd int dir = -1;
	int at = AT_FDCWD;

	for (unsigned count = 0; count <= LINKS_MOST; count++) {
		char *target = NULL;
		const char *name = NULL;
		int r = enter_directory_of(place, &at, &name);

		/* It is closed at the end, except AT_FDCWD, which is negative. */
		dir = at;
		if (r == 0)
			r = *name ? read_own_link(dir, name, &target) : -EISDIR;
		if (r < 0)
			return r;
		if (!target) {
			file->name = xstrdup(name);
			file->dir = take_fd(dir);
			return 0;
		}
		free(place);
		place = target;
	}
	return -ELOOP;
}

static int create_with_rights(const char *path, mode_t mode, struct user_file *file,
			      struct error *err)
{
	int r = file_check_replaceable(path, err);

	if (r < 0)
		return error_reason(err, r, &reason_usage);
	r = find_place(path, file);
	if (r == -ELOOP)
		return error_because(err, &reason_usage, r,
				     "'%s' is or leads to a symbolic link of another user", path);
	if (r == 0) {
		file->temp = xasprintf("%s.%d", file->name, (int)getpid());
		file->fd = open_unnamed(file->dir, file->temp, mode, &file->named);
		if (file->fd >= 0)
			return 0;
		r = -errno;
	}
	(void)error_set(err, r, "cannot create '%s': %s", path, strerror(-r));
	if (r == -ENOENT || r == -ENOTDIR)
		return error_reason(err, r, &reason_host_path);
	if (r != -EACCES)
		return r;
	(void)error_reason(err, r, &reason_host_config);
	return error_hint(err, r, "use a directory that you can write to");
}

int user_file_create(const char *path, mode_t mode, struct user_file *ret, struct error *err)
{
	cleanup_with(user_leave) struct user_rights rights = USER_RIGHTS_INIT;
	int r;

	*ret = (struct user_file){ .path = path, .dir = -1, .fd = -1 };
	r = user_enter(&rights, err);
	return r < 0 ? r : create_with_rights(path, mode, ret, err);
}

int user_file_settle(struct user_file *file, int r, struct error *err)
{
	cleanup_free char *opened = xasprintf("/proc/self/fd/%d", file->fd);
	cleanup_with(user_leave) struct user_rights rights = USER_RIGHTS_INIT;
	int last = user_enter(&rights, r < 0 ? NULL : err);

	if (last < 0)
		return r < 0 ? r : last;
	if (r == 0 && !file->named &&
	    linkat(AT_FDCWD, opened, file->dir, file->temp, AT_SYMLINK_FOLLOW) < 0)
		return error_sys(err, "cannot create '%s'", file->temp);
	if (r == 0 && renameat(file->dir, file->temp, file->dir, file->name) < 0)
		r = error_sys(err, "cannot create '%s'", file->path);
	if (r < 0)
		(void)unlinkat(file->dir, file->temp, 0);
	return r;
}

void user_file_release(struct user_file *file)
{
	free(file->name);
	free(file->temp);
	cleanup_fd_(&file->dir);
	cleanup_fd_(&file->fd);
	*file = USER_FILE_INIT;
}
