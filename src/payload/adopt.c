/* Payloads in the place where earlier versions kept them. */

#include "payload/adopt.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/log.h"
#include "base/path.h"
#include "payload/payload.h"

char *payload_old_dir(const char *version)
{
	const char *cache = getenv("MANYKUBE_CACHE");
	cleanup_free char *user = NULL;

	if (path_is_one_home() || (cache && *cache) || path_user(&user, NULL) < 0)
		return NULL;
	return xasprintf("%s/cache/%s", user, version);
}

static bool is_safe(const struct stat *st)
{
	/* The mode of a symbolic link has no meaning. */
	return (st->st_uid == 0 || st->st_uid == PAYLOAD_SHARED_UID) &&
	       (S_ISLNK(st->st_mode) || !(st->st_mode & 022));
}

char *payload_find_foreign(int fd)
{
	int inner = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cleanup_dir DIR *stream = inner < 0 ? NULL : fdopendir(inner);
	struct dirent *entry;
	struct stat st;

	if (!stream || fstat(inner, &st) < 0 || !is_safe(&st))
		return xstrdup(".");
	if (!(st.st_mode & 011))
		return NULL;
	while ((entry = readdir(stream))) {
		cleanup_free char *found = NULL;
		cleanup_fd int below = -1;

		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (fstatat(inner, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !is_safe(&st))
			return xstrdup(entry->d_name);
		if (!S_ISDIR(st.st_mode))
			continue;
		below = openat(inner, entry->d_name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		found = below < 0 ? xstrdup(".") : payload_find_foreign(below);
		if (found)
			return xasprintf("%s/%s", entry->d_name, found);
	}
	return NULL;
}

/* Copy the directory FD, which is OLD, to a temporary name and rename that to TARGET. */
static int copy_over(int fd, const char *old, const char *target, struct error *err)
{
	cleanup_free char *from = xasprintf("/proc/self/fd/%d", fd);
	cleanup_free char *part = xasprintf("%s.adopt.%d", target, (int)getpid());
	cleanup_fd int copy = -1;
	int r = file_link_tree(from, part, NULL, err);

	copy = open(part, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (r == 0 && (copy < 0 || syncfs(copy) < 0))
		r = error_sys(err, "cannot write '%s' to disk", part);
	if (r == 0 && renameat2(AT_FDCWD, part, AT_FDCWD, target, RENAME_NOREPLACE) < 0)
		r = error_sys(err, "cannot rename to '%s'", target);
	if (r < 0) {
		(void)file_remove_tree(part, NULL);
		return r;
	}
	log_debug("'%s' was copied to '%s'", old, target);
	return 0;
}

/* Move OLD, which is NAME in the directory HOME and open as FD, to TARGET, leaving a link. */
static int move_payload(int home, const char *name, int fd, const char *old, const char *target,
			struct error *err)
{
	cleanup_free char *inside = xasprintf("/proc/self/fd/%d/%s", home, name);
	int r;

	if (renameat2(home, name, AT_FDCWD, target, RENAME_NOREPLACE) == 0) {
		/* Programs of the earlier version look for it in the old place. */
		(void)!symlinkat(target, home, name);
		return 0;
	}
	if (errno != EXDEV)
		return error_sys(err, "cannot move it");
	r = copy_over(fd, old, target, err);
	if (r == 0 && file_remove_tree(inside, NULL) == 0)
		(void)!symlinkat(target, home, name);
	return r;
}

static int adopt(const char *old, const char *target, struct error *err)
{
	const char *name = strrchr(old, '/') + 1;
	cleanup_free char *above = xstrndup(old, (size_t)(name - old));
	cleanup_fd int home = open(above, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cleanup_fd int fd = -1;
	cleanup_free char *foreign = NULL;
	struct stat st;

	if (home < 0 || fstat(home, &st) < 0)
		return error_sys(err, "cannot open '%s'", above);
	fd = openat(home, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return error_sys(err, "cannot open it");
	/* The parent must be safe, too: otherwise the directory could be replaced. */
	foreign = is_safe(&st) ? payload_find_foreign(fd) : xstrdup("..");
	if (foreign)
		return error_set(err, -EPERM, "users other than root could have changed '%s' in it",
				 foreign);
	return move_payload(home, name, fd, old, target, err);
}

int payload_make_cache(struct error *err)
{
	cleanup_free char *cache = NULL;
	int r = path_cache(&cache, err);

	if (r < 0 || file_exists(cache))
		return r;
	r = file_make_dirs(cache, 0755, err);
	/* All users run the kubectl in it, so the umask must not apply. */
	if (r == 0 && chmod(cache, 0755) < 0)
		r = error_sys(err, "cannot make '%s' readable for all users", cache);
	return r;
}

bool payload_adopt(const char *version)
{
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	cleanup_free char *old = payload_old_dir(version);
	cleanup_free char *cache = NULL;
	cleanup_free char *target = NULL;
	static bool told;

	if (!old || geteuid() != 0 || !file_exists(old) || path_cache(&cache, NULL) < 0)
		return false;
	target = xasprintf("%s/%s", cache, version);
	if (payload_make_cache(&why) == 0 && adopt(old, target, &why) == 0) {
		log_debug("'%s' was moved to '%s'", old, target);
		return true;
	}
	if (!told && !file_exists(target))
		log_warning("'%s' is not used: %s", old, why.text);
	told = true;
	return false;
}
