/* Whole files, folders and locks. */

#include "base/file.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/syscall.h>

#include "base/alloc.h"
#include "base/cleanup.h"

int file_read_fd(int fd, size_t limit, struct strbuf *buf, struct error *err)
{
	size_t total = 0;

	for (;;) {
		char *room = strbuf_grow(buf, 16384);
		ssize_t len = read(fd, room, 16384);

		if (len < 0 && errno == EINTR)
			continue;
		if (len < 0)
			return error_sys(err, "cannot read");
		if (len == 0)
			return 0;
		total += (size_t)len;
		if (total > limit)
			return error_set(err, -EFBIG, "more than %zu bytes", limit);
		strbuf_grown(buf, (size_t)len);
	}
}

int file_read(const char *path, size_t limit, struct strbuf *buf, struct error *err)
{
	cleanup_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
	int r;

	if (fd < 0)
		return error_sys(err, "cannot open '%s'", path);
	r = file_read_fd(fd, limit, buf, err);
	return r < 0 ? error_prefix(err, r, "'%s'", path) : 0;
}

int file_write_all(int fd, const void *data, size_t len)
{
	const char *p = data;

	while (len > 0) {
		ssize_t written = write(fd, p, len);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return -errno;
		p += written;
		len -= (size_t)written;
	}
	return 0;
}

/* The rename is only durable once the directory itself is on disk. */
static int sync_folder_of(const char *path, struct error *err)
{
	const char *slash = strrchr(path, '/');
	cleanup_free char *folder = slash ? xstrndup(path, (size_t)(slash - path) + 1)
					  : xstrdup(".");
	cleanup_fd int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0 || fsync(fd) < 0)
		return error_sys(err, "cannot sync the folder of '%s'", path);
	return 0;
}

static int check_replaceable(int folder, const char *name, const char *shown, struct error *err)
{
	struct stat st;

	/* Folders are refused by rename(). */
	if (fstatat(folder, name, &st, 0) < 0 || S_ISREG(st.st_mode) || S_ISDIR(st.st_mode))
		return 0;
	return error_set(err, -EINVAL, "'%s' is not a file", shown);
}

int file_check_replaceable(const char *path, struct error *err)
{
	return check_replaceable(AT_FDCWD, path, path, err);
}

int file_put_at(int folder, const char *name, const char *shown, const void *data, size_t len,
		mode_t mode, bool durable, struct error *err)
{
	cleanup_free char *temp = xasprintf("%s.new", name);
	cleanup_fd int fd = -1;
	int r = check_replaceable(folder, name, shown, err);

	if (r < 0)
		return r;
	fd = openat(folder, temp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, mode);
	if (fd < 0)
		return error_sys(err, "cannot create '%s.new'", shown);

	r = file_write_all(fd, data, len);
	if (r < 0) {
		errno = -r;
		r = error_sys(err, "cannot write '%s.new'", shown);
		goto discard;
	}
	if (fchmod(fd, mode) < 0 || (durable && fsync(fd) < 0)) {
		r = error_sys(err, "cannot write '%s.new'", shown);
		goto discard;
	}
	if (renameat(folder, temp, folder, name) < 0) {
		r = error_sys(err, "cannot replace '%s'", shown);
		goto discard;
	}
	return 0;

discard:
	(void)unlinkat(folder, temp, 0);
	return r;
}

int file_replace(const char *path, const void *data, size_t len, mode_t mode, struct error *err)
{
	int r = file_put_at(AT_FDCWD, path, path, data, len, mode, true, err);

	return r < 0 ? r : sync_folder_of(path, err);
}

int file_put(const char *path, const void *data, size_t len, mode_t mode, struct error *err)
{
	return file_put_at(AT_FDCWD, path, path, data, len, mode, false, err);
}

int file_poke(const char *path, const char *text, struct error *err)
{
	cleanup_fd int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return error_sys(err, "cannot open '%s'", path);
	if (write(fd, text, strlen(text)) < 0)
		return error_sys(err, "cannot write '%s' to '%s'", text, path);
	return 0;
}

static int copy_bytes(int in, int out)
{
	if (ioctl(out, FICLONE, in) == 0)
		return 0;
	for (;;) {
		ssize_t len = copy_file_range(in, NULL, out, NULL, 1 << 30, 0);

		if (len < 0 &&
		    (errno == EXDEV || errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP))
			len = sendfile(out, in, NULL, 1 << 30);
		if (len < 0)
			return -errno;
		if (len == 0)
			return 0;
	}
}

int file_copy(const char *from, const char *to, struct error *err)
{
	cleanup_fd int in = open(from, O_RDONLY | O_CLOEXEC);
	cleanup_fd int out = -1;
	struct stat st;
	int r;

	if (in < 0 || fstat(in, &st) < 0)
		return error_sys(err, "cannot open '%s'", from);
	if (unlink(to) < 0 && errno != ENOENT)
		return error_sys(err, "cannot replace '%s'", to);
	out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, st.st_mode & 07777);
	if (out < 0)
		return error_sys(err, "cannot create '%s'", to);
	r = copy_bytes(in, out);
	if (r < 0) {
		errno = -r;
		return error_sys(err, "cannot copy '%s' to '%s'", from, to);
	}
	if (fchmod(out, st.st_mode & 07777) < 0)
		return error_sys(err, "cannot set the mode of '%s'", to);
	return 0;
}

bool file_exists(const char *path)
{
	return access(path, F_OK) == 0;
}

int file_make_dirs(const char *path, mode_t mode, struct error *err)
{
	cleanup_free char *copy = xstrdup(path);

	for (char *p = copy + 1; *p; p++) {
		if (*p != '/')
			continue;
		*p = '\0';
		if (mkdir(copy, mode) < 0 && errno != EEXIST && errno != EROFS)
			return error_sys(err, "cannot make the folder '%s'", copy);
		*p = '/';
	}
	if (mkdir(copy, mode) < 0 && errno != EEXIST)
		return error_sys(err, "cannot make the folder '%s'", path);
	return 0;
}

static bool is_dots(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* The mode comes last: a new owner takes set-user-id bits away. */
static int copy_with_owner(const char *from, const char *to, const struct stat *st,
			   struct error *err)
{
	int r = file_copy(from, to, err);

	if (r == 0 && (chown(to, st->st_uid, st->st_gid) < 0 || chmod(to, st->st_mode & 07777) < 0))
		r = error_sys(err, "cannot give '%s' the owner of '%s'", to, from);
	return r;
}

static int link_entry(const char *from, const char *to, const char *name,
		      bool (*copy_it)(const char *name, const struct stat *st), struct error *err)
{
	char target[PATH_MAX];
	struct stat st;
	ssize_t len;

	if (lstat(from, &st) < 0)
		return error_sys(err, "cannot look at '%s'", from);
	if (S_ISDIR(st.st_mode))
		return file_link_tree(from, to, copy_it, err);
	if (S_ISLNK(st.st_mode)) {
		len = readlink(from, target, sizeof(target) - 1);
		if (len < 0)
			return error_sys(err, "cannot read the link '%s'", from);
		target[len] = '\0';
		if (symlink(target, to) < 0 && errno != EEXIST)
			return error_sys(err, "cannot make the link '%s'", to);
		return 0;
	}
	if (!copy_it || !copy_it(name, &st)) {
		if (link(from, to) == 0 || errno == EEXIST)
			return 0;
		if (errno != EXDEV && errno != EMLINK && errno != EPERM)
			return error_sys(err, "cannot link '%s' to '%s'", from, to);
	}
	return copy_with_owner(from, to, &st, err);
}

int file_link_tree(const char *from, const char *to,
		   bool (*copy_it)(const char *name, const struct stat *st), struct error *err)
{
	cleanup_dir DIR *dir = opendir(from);
	struct dirent *entry;
	struct stat st;

	if (!dir || fstat(dirfd(dir), &st) < 0)
		return error_sys(err, "cannot open '%s'", from);
	if (mkdir(to, st.st_mode & 07777) < 0 && errno != EEXIST)
		return error_sys(err, "cannot make the folder '%s'", to);
	/* Sticky folders and those that are closed to others must stay so, whatever the umask. */
	if (chmod(to, st.st_mode & 07777) < 0 || chown(to, st.st_uid, st.st_gid) < 0)
		return error_sys(err, "cannot set the mode of '%s'", to);

	while ((entry = readdir(dir))) {
		cleanup_free char *source = NULL;
		cleanup_free char *target = NULL;
		int r;

		if (is_dots(entry->d_name))
			continue;
		source = xasprintf("%s/%s", from, entry->d_name);
		target = xasprintf("%s/%s", to, entry->d_name);
		r = link_entry(source, target, entry->d_name, copy_it, err);
		if (r < 0)
			return r;
	}
	return 0;
}

static uint64_t tree_bytes(int parent, const char *name, bool linked, unsigned level)
{
	cleanup_dir DIR *dir = NULL;
	struct dirent *entry;
	struct stat st;
	uint64_t total;
	int fd;

	if (fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return 0;
	total = (uint64_t)st.st_blocks * 512;
	if (!S_ISDIR(st.st_mode))
		return linked || st.st_nlink == 1 ? total : 0;

	fd = level < FILE_TREE_LEVELS
		     ? openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
		     : -1;
	if (fd < 0)
		return total;
	dir = fdopendir(fd);
	if (!dir) {
		(void)close(fd);
		return total;
	}
	while ((entry = readdir(dir)))
		if (!is_dots(entry->d_name))
			total += tree_bytes(fd, entry->d_name, linked, level + 1);
	return total;
}

uint64_t file_tree_bytes(const char *path, bool linked)
{
	return tree_bytes(AT_FDCWD, path, linked, 0);
}
