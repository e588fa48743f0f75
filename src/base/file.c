/* Whole files, directories and locks. */

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
#include "base/path.h"

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
	/* O_NONBLOCK: opening a FIFO must not block. */
	cleanup_fd int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;
	int r;

	if (fd < 0)
		return error_sys(err, "cannot open '%s'", path);
	if (fstat(fd, &st) < 0 || S_ISFIFO(st.st_mode))
		return error_set(err, -EINVAL, "'%s' is not a file", path);
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
static int sync_dir_of(const char *path, struct error *err)
{
	const char *slash = strrchr(path, '/');
	cleanup_free char *dir = slash ? xstrndup(path, (size_t)(slash - path) + 1) : xstrdup(".");
	cleanup_fd int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0 || fsync(fd) < 0)
		return error_sys(err, "cannot sync the directory of '%s'", path);
	return 0;
}

int file_check_replaceable(const char *path, struct error *err)
{
	struct stat st;

	/* Directories are refused by rename(). */
	if (stat(path, &st) < 0 || S_ISREG(st.st_mode) || S_ISDIR(st.st_mode))
		return 0;
	return error_set(err, -EINVAL, "'%s' is not a file", path);
}

/* Create the file NAME.  An existing file, link or FIFO is removed first, never written to. */
static int create_anew(int dir, const char *name, mode_t mode)
{
	if (unlinkat(dir, name, 0) < 0 && errno != ENOENT)
		return -1;
	return openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
}

int file_put_at(int dir, const char *name, const char *shown, const void *data, size_t len,
		mode_t mode, bool durable, struct error *err)
{
	cleanup_free char *temp = xasprintf("%s.new", name);
	cleanup_fd int fd = create_anew(dir, temp, mode);
	int r;

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
	if (renameat(dir, temp, dir, name) < 0) {
		r = error_sys(err, "cannot replace '%s'", shown);
		goto discard;
	}
	return 0;

discard:
	(void)unlinkat(dir, temp, 0);
	return r;
}

int file_replace(const char *path, const void *data, size_t len, mode_t mode, struct error *err)
{
	int r = file_check_replaceable(path, err);

	if (r == 0)
		r = file_put_at(AT_FDCWD, path, path, data, len, mode, true, err);
	return r < 0 ? r : sync_dir_of(path, err);
}

int file_put(const char *path, const void *data, size_t len, mode_t mode, struct error *err)
{
	int r = file_check_replaceable(path, err);

	return r < 0 ? r : file_put_at(AT_FDCWD, path, path, data, len, mode, false, err);
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

/* Copy IN to a new file NAME in DIR with MODE and, unless OWNER is NULL, its user and group. */
static int copy_into(int in, int dir, const char *name, mode_t mode, const struct stat *owner,
		     struct error *err)
{
	cleanup_fd int out = create_anew(dir, name, mode & 0777);
	int r;

	if (out < 0)
		return error_sys(err, "cannot create '%s'", name);
	r = copy_bytes(in, out);
	if (r < 0) {
		errno = -r;
		return error_sys(err, "cannot write '%s'", name);
	}
	/* The mode comes last: changing the owner clears set-user-ID bits. */
	if ((owner && fchown(out, owner->st_uid, owner->st_gid) < 0) ||
	    fchmod(out, mode & 07777) < 0)
		return error_sys(err, "cannot set owner and mode of '%s'", name);
	return 0;
}

int file_copy(const char *from, const char *to, struct error *err)
{
	cleanup_fd int in = open(from, O_RDONLY | O_CLOEXEC);
	struct stat st;
	int r;

	if (in < 0 || fstat(in, &st) < 0)
		return error_sys(err, "cannot open '%s'", from);
	r = copy_into(in, AT_FDCWD, to, st.st_mode, NULL, err);
	return r < 0 ? error_prefix(err, r, "copying '%s'", from) : 0;
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
			return error_sys(err, "cannot make the directory '%s'", copy);
		*p = '/';
	}
	if (mkdir(copy, mode) < 0 && errno != EEXIST)
		return error_sys(err, "cannot make the directory '%s'", path);
	return 0;
}

static int copy_link(int from, int to, const char *name, struct error *err)
{
	char target[PATH_MAX];
	ssize_t len = readlinkat(from, name, target, sizeof(target) - 1);

	if (len < 0)
		return error_sys(err, "cannot read the link '%s'", name);
	target[len] = '\0';
	if (symlinkat(target, to, name) < 0 && errno != EEXIST)
		return error_sys(err, "cannot make the link '%s'", name);
	return 0;
}

/* Link or copy the entry NAME of the directory FROM into the directory TO. */
static int link_entry(int from, int to, const char *name, file_choice *copy_it, struct error *err)
{
	cleanup_fd int in = -1;
	struct stat st;

	if (fstatat(from, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return error_sys(err, "cannot stat '%s'", name);
	if (S_ISDIR(st.st_mode))
		return file_link_tree_at(from, name, to, name, copy_it, err);
	if (S_ISLNK(st.st_mode))
		return copy_link(from, to, name, err);
	if (!copy_it || !copy_it(name, &st)) {
		if (linkat(from, name, to, name, 0) == 0 || errno == EEXIST)
			return 0;
		if (errno != EXDEV && errno != EMLINK && errno != EPERM)
			return error_sys(err, "cannot link '%s'", name);
	}
	if (!S_ISREG(st.st_mode))
		return error_set(err, -EINVAL, "'%s' is not a file, so it can't be copied", name);
	in = openat(from, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (in < 0)
		return error_sys(err, "cannot open '%s'", name);
	return copy_into(in, to, name, st.st_mode, &st, err);
}

int file_link_tree_at(int from_parent, const char *from, int to_parent, const char *to,
		      file_choice *copy_it, struct error *err)
{
	const int how = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
	cleanup_fd int target = -1;
	cleanup_dir DIR *stream = NULL;
	struct dirent *entry;
	struct stat st;
	int fd = openat(from_parent, from, how);
	int r = 0;

	stream = fd < 0 ? NULL : fdopendir(fd);
	if (!stream || fstat(fd, &st) < 0)
		return error_sys(err, "cannot open '%s'", from);
	if (mkdirat(to_parent, to, 0700) < 0 && errno != EEXIST)
		return error_sys(err, "cannot make the directory '%s'", to);
	target = openat(to_parent, to, how | O_NOFOLLOW);
	/* The mode must match regardless of the umask: sticky bits, closed directories. */
	if (target < 0 || fchown(target, st.st_uid, st.st_gid) < 0 ||
	    fchmod(target, st.st_mode & 07777) < 0)
		return error_sys(err, "cannot set the mode of '%s'", to);
	while (r == 0 && (entry = readdir(stream)))
		if (!path_is_dots(entry->d_name))
			r = link_entry(fd, target, entry->d_name, copy_it, err);
	return r < 0 ? error_prefix(err, r, "'%s'", to) : 0;
}

int file_link_tree(const char *from, const char *to, file_choice *copy_it, struct error *err)
{
	return file_link_tree_at(AT_FDCWD, from, AT_FDCWD, to, copy_it, err);
}

/* LEFT is how many more entries are looked at. */
static uint64_t tree_bytes(int parent, const char *name, bool linked, unsigned level, size_t *left)
{
	cleanup_dir DIR *stream = NULL;
	struct dirent *entry;
	struct stat st;
	uint64_t total;
	int fd;

	if (*left == 0 || fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return 0;
	--*left;
	total = (uint64_t)st.st_blocks * 512;
	if (!S_ISDIR(st.st_mode))
		return linked || st.st_nlink == 1 ? total : 0;

	fd = level < FILE_TREE_LEVELS
		     ? openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
		     : -1;
	if (fd < 0)
		return total;
	stream = fdopendir(fd);
	if (!stream) {
		(void)close(fd);
		return total;
	}
	while (*left > 0 && (entry = readdir(stream)))
		if (!path_is_dots(entry->d_name))
			total += tree_bytes(fd, entry->d_name, linked, level + 1, left);
	return total;
}

uint64_t file_tree_bytes(const char *path, bool linked)
{
	return file_tree_bytes_most(path, linked, SIZE_MAX);
}

uint64_t file_tree_bytes_most(const char *path, bool linked, size_t most)
{
	return tree_bytes(AT_FDCWD, path, linked, 0, &most);
}
