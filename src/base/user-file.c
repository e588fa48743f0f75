/* A new file of the user. */

#include "base/user-file.h"

#include <fcntl.h>
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

static int open_unnamed(const char *dir, const char *temp, mode_t mode, bool *ret_named)
{
	int fd = open(dir, O_TMPFILE | O_WRONLY | O_CLOEXEC, mode);

	*ret_named = fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL);
	return *ret_named ? open(temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode) : fd;
}

static int create_with_rights(const char *path, mode_t mode, struct user_file *file,
			      struct error *err)
{
	cleanup_free char *dir = NULL;
	const char *slash;
	struct stat st;
	int r;

	if (lstat(path, &st) == 0 && S_ISLNK(st.st_mode) && st.st_uid != 0 &&
	    st.st_uid != path_person_uid())
		return error_because(err, &reason_usage, -ELOOP,
				     "'%s' is a symbolic link of another user", path);
	r = file_check_replaceable(path, err);
	if (r < 0)
		return error_reason(err, r, &reason_usage);
	file->real = realpath(path, NULL);
	if (!file->real)
		file->real = xstrdup(path);
	file->temp = xasprintf("%s.%d", file->real, (int)getpid());
	slash = strrchr(file->real, '/');
	dir = slash ? xstrndup(file->real, (size_t)(slash - file->real) + 1) : xstrdup(".");
	file->fd = open_unnamed(dir, file->temp, mode, &file->named);
	if (file->fd >= 0)
		return 0;
	r = error_sys(err, "cannot create '%s'", path);
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

	*ret = (struct user_file){ .path = path, .fd = -1 };
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
	    linkat(AT_FDCWD, opened, AT_FDCWD, file->temp, AT_SYMLINK_FOLLOW) < 0)
		return error_sys(err, "cannot create '%s'", file->temp);
	if (r == 0 && rename(file->temp, file->real) < 0)
		r = error_sys(err, "cannot create '%s'", file->path);
	if (r < 0)
		(void)unlink(file->temp);
	return r;
}

void user_file_release(struct user_file *file)
{
	free(file->real);
	free(file->temp);
	cleanup_fd_(&file->fd);
	*file = USER_FILE_INIT;
}
