/* Access to files in a directory that another user can write to. */

#include "base/below.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"

static int open_from(const char *dir, const char *path, struct open_how *how)
{
	cleanup_fd int top = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);

	return top < 0 ? -1 : (int)syscall(SYS_openat2, top, path, how, sizeof(*how));
}

int below_find(const char *dir, const char *path, int *ret_fd, char **ret_path, struct error *err)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT,
	};
	cleanup_fd int fd = open_from(dir, path, &how);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return error_sys(err, "cannot find '%s' in '%s'", path, dir);
	if (!S_ISREG(st.st_mode))
		return error_set(err, -EINVAL, "'%s' in '%s' is not a file", path, dir);
	*ret_path = xasprintf("/proc/self/fd/%d", fd);
	*ret_fd = take_fd(fd);
	return 0;
}

/* The limit of the kernel for links in one path. */
#define LINKS_MOST 40

/* Whether FD is one of the directories PATHS.  "/" does not count: every path is below it. */
static bool is_among(int fd, const struct strlist *paths)
{
	const char *path;
	struct stat here;
	struct stat there;

	if (fstat(fd, &here) < 0)
		return false;
	strlist_for_each(path, paths)
		if (strcmp(path, "/") != 0 && stat(path, &there) == 0 &&
		    here.st_dev == there.st_dev && here.st_ino == there.st_ino)
			return true;
	return false;
}

/* Remove the first component from *REST, which is not empty, and return it. */
static char *take_name(char **rest)
{
	size_t len = strcspn(*rest, "/");
	char *name = xstrndup(*rest, len);
	char *left = xstrdup(*rest + len + strspn(*rest + len, "/"));

	free(*rest);
	*rest = left;
	return name;
}

/*
 * Replace a link by its target: put the target of LINK, which is in the directory *FD, in front of
 * *REST.  *FD becomes "/" if the target is absolute.
 */
static int follow_link(int link, int *fd, char **rest)
{
	char target[PATH_MAX];
	ssize_t len = readlinkat(link, "", target, sizeof(target) - 1);
	const char *way = target;
	char *whole;

	if (len < 0)
		return -1;
	target[len] = '\0';
	way += strspn(way, "/");
	if (target[0] == '/') {
		(void)close(*fd);
		*fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	}
	whole = *way ? xasprintf("%s/%s", way, *rest) : xstrdup(*rest);
	free(*rest);
	*rest = whole;
	return *fd < 0 ? -1 : 0;
}

/* Whether MAKER, the owner of a link, is root or also owns the target FD.  Otherwise the link could
 * redirect root to a file of somebody else. */
static bool owns_target(uid_t maker, int fd)
{
	struct stat st;

	return maker == 0 || (fstat(fd, &st) == 0 && st.st_uid == maker);
}

/* below_follow() without messages: returns -1 and sets errno. */
static int follow_path(const char *path, const struct strlist *writable)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC,
				.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS };
	cleanup_fd int fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	cleanup_free char *rest = xstrdup(path + strspn(path, "/"));
	uid_t maker = 0; /* the owner of the links followed so far: root, or one other user */
	int links = 0;

	while (fd >= 0 && *rest) {
		cleanup_free char *name = NULL;
		cleanup_fd int next = -1;
		struct stat st;

		if (is_among(fd, writable))
			return (int)syscall(SYS_openat2, fd, rest, &how, sizeof(how));
		name = take_name(&rest);
		next = openat(fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
		if (next < 0 || fstat(next, &st) < 0)
			return -1;
		if (!S_ISLNK(st.st_mode)) {
			(void)close(fd);
			fd = take_fd(next);
			continue;
		}
		errno = EXDEV;
		if (maker != 0 && st.st_uid != 0 && st.st_uid != maker)
			return -1;
		maker = maker ? maker : st.st_uid;
		errno = ELOOP;
		if (++links > LINKS_MOST || follow_link(next, &fd, &rest) < 0)
			return -1;
	}
	if (fd >= 0 && !owns_target(maker, fd)) {
		errno = EXDEV;
		return -1;
	}
	return take_fd(fd);
}

int below_follow(const char *path, const struct strlist *writable, int *ret_fd, struct error *err)
{
	int fd = follow_path(path, writable);

	if (fd < 0 && errno == ELOOP)
		return error_set(err, -ELOOP,
				 "'%s' leads through a link in a directory that nodes can write to",
				 path);
	if (fd < 0 && errno == EXDEV)
		return error_set(err, -EXDEV,
				 "'%s' leads through a link whose owner does not own the target",
				 path);
	if (fd < 0)
		return error_sys(err, "cannot open '%s'", path);
	*ret_fd = fd;
	return 0;
}

int below_open(const char *dir, const char *path, int flags, int *ret_fd, struct error *err)
{
	/* O_NONBLOCK: opening a FIFO must not block. */
	struct open_how how = {
		.flags = (unsigned)(O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | flags),
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
	};
	cleanup_fd int fd = open_from(dir, path, &how);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return error_sys(err, "cannot open '%s/%s'", dir, path);
	if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
		return error_set(err, -EINVAL, "'%s/%s' is not a file", dir, path);
	*ret_fd = take_fd(fd);
	return 0;
}

int below_list(const char *dir, const char *path, struct strlist *ret, struct error *err)
{
	return below_list_most(dir, path, SIZE_MAX, ret, err);
}

int below_read(const char *dir, const char *path, size_t limit, struct strbuf *buf,
	       struct error *err)
{
	cleanup_fd int fd = -1;
	int r = below_open(dir, path, 0, &fd, err);

	return r < 0 ? r : file_read_fd(fd, limit, buf, err);
}

/* Open the directory NAME in the directory FD.  If it is missing, make it with exactly MODE. */
static int enter_directory(int fd, const char *name, mode_t mode)
{
	const int flags = O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	int next;

	if (strcmp(name, "..") == 0) {
		errno = EXDEV;
		return -1;
	}
	if (mkdirat(fd, name, 0700) < 0)
		return errno == EEXIST ? openat(fd, name, O_PATH | flags) : -1;
	next = openat(fd, name, O_RDONLY | flags);
	if (next >= 0 && fchmod(next, mode) < 0) {
		(void)close(next);
		return -1;
	}
	return next;
}

int below_make_dir(const char *dir, const char *path, mode_t mode, int *ret_fd, struct error *err)
{
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	cleanup_fd int fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	const char *name;

	if (fd < 0)
		return error_sys(err, "cannot open '%s'", dir);
	strlist_split(&names, path, '/');
	strlist_for_each(name, &names) {
		int next;

		if (!*name)
			continue;
		next = enter_directory(fd, name, mode);
		if (next < 0)
			return error_sys(err, "cannot make the directory '%s/%s'", dir, path);
		(void)close(fd);
		fd = next;
	}
	if (ret_fd)
		*ret_fd = take_fd(fd);
	return 0;
}

int below_open_parent(const char *dir, const char *path, int *ret_fd, const char **ret_name,
		      struct error *err)
{
	const char *slash = strrchr(path, '/');
	cleanup_free char *parent = xstrndup(path, slash ? (size_t)(slash - path) : 0);

	*ret_name = slash ? slash + 1 : path;
	return below_make_dir(dir, parent, 0755, ret_fd, err);
}

int below_put(const char *dir, const char *path, const void *data, size_t len, mode_t mode,
	      struct error *err)
{
	cleanup_free char *shown = xasprintf("%s/%s", dir, path);
	cleanup_fd int fd = -1;
	const char *name;
	int r = below_open_parent(dir, path, &fd, &name, err);

	return r < 0 ? r : file_put_at(fd, name, shown, data, len, mode, false, err);
}

int below_list_most(const char *dir, const char *path, size_t most, struct strlist *ret,
		    struct error *err)
{
	cleanup_dir DIR *stream = NULL;
	struct dirent *entry;
	size_t count = 0;
	int fd = -1;
	int r = below_open(dir, path, O_DIRECTORY, &fd, err);

	if (r < 0)
		return r;
	stream = fdopendir(fd);
	if (!stream) {
		(void)close(fd);
		return error_sys(err, "cannot list '%s/%s'", dir, path);
	}
	while (count <= most && (entry = readdir(stream)))
		if (entry->d_name[0] != '.' && count++ < most)
			strlist_add(ret, entry->d_name);
	strlist_sort(ret);
	return count > most;
}
