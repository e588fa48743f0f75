/* The host's side of a copy. */

#include "node/copy-host.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/process.h"
#include "base/strlist.h"

/* Deeper directories are not merged: each level needs two descriptors. */
#define DEPTH_MOST 200

int copy_host_kind(const char *path, struct error *err)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return errno == ENOENT || errno == ENOTDIR
			       ? COPY_MISSING
			       : error_sys(err, "cannot look at '%s'", path);
	return S_ISDIR(st.st_mode) ? COPY_DIR : S_ISREG(st.st_mode) ? COPY_FILE : COPY_OTHER;
}

/* Create and open a directory that only we can enter. */
static int make_scratch(struct copy_host *host, struct error *err)
{
	unsigned number;
	struct stat st;
	int r;

	do {
		if (getrandom(&number, sizeof(number), 0) != sizeof(number))
			return error_sys(err, "cannot get a random number");
		free(host->name);
		host->name = xasprintf(".manykube-cp.%08x", number);
		r = mkdirat(host->dir, host->name, 0700);
	} while (r < 0 && errno == EEXIST);
	if (r < 0)
		return error_sys(err, "cannot create a directory");
	host->scratch = openat(host->dir, host->name,
			       O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	/* Another user with write access here could have replaced it meanwhile. */
	if (host->scratch < 0 || fstat(host->scratch, &st) < 0)
		return error_sys(err, "cannot open the directory that was just created");
	if (st.st_uid != host->user.uid || (st.st_mode & 07777) != 0700)
		return error_set(err, -EPERM, "another user is changing the directory");
	return 0;
}

int copy_host_open(const char *dir, struct copy_host *ret, struct error *err)
{
	cleanup_with(copy_host_release) struct copy_host host = COPY_HOST_INIT;
	cleanup_with(user_leave) struct user_rights rights = USER_RIGHTS_INIT;
	int r = user_enter(&rights, err);

	if (r < 0)
		return r;
	user_find(&host.user);
	host.dir = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	r = host.dir < 0 ? error_sys(err, "cannot open '%s'", dir) : make_scratch(&host, err);
	user_leave(&rights);
	if (r < 0)
		(void)error_reason(err, r, &reason_copy);
	if (r == -EACCES && host.user.is_other)
		return error_hint(
			err, r,
			"files are written on this host with the rights of user %u, who called "
			"sudo: choose a directory that this user can write to",
			host.user.uid);
	if (r < 0)
		return r;
	host.scratch_path = xasprintf("/proc/self/fd/%d", host.scratch);
	host.dir_path = xasprintf("/proc/self/fd/%d", host.dir);
	*ret = host;
	host = COPY_HOST_INIT;
	return 0;
}

static int list_names(int dir, struct strlist *ret, struct error *err)
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cleanup_dir DIR *stream = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (!stream)
		return error_sys(err, "cannot list what was copied");
	while ((entry = readdir(stream)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			strlist_add(ret, entry->d_name);
	return 0;
}

/* Open the directory NAME in a scratch directory for changes, whatever its mode in ST. */
static int open_fresh(int from, const char *name, const struct stat *st)
{
	if ((st->st_mode & 0700) != 0700 &&
	    fchmodat(from, name, (st->st_mode & 07777) | 0700, 0) < 0)
		return -1;
	return openat(from, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Rename NAME, whose status is ST, to TARGET in TO. */
static int move_entry(int from, const char *name, const struct stat *st, int to, const char *target,
		      struct error *err)
{
	cleanup_fd int fd = -1;
	int r = 0;

	/* A directory without write permission cannot be moved. */
	if (S_ISDIR(st->st_mode) && (fd = open_fresh(from, name, st)) < 0)
		return error_sys(err, "cannot open '%s'", name);
	if (renameat(from, name, to, target) < 0)
		r = error_sys(err, "cannot replace '%s'", target);
	if (fd >= 0 && fchmod(fd, st->st_mode & 07777) < 0 && r == 0)
		r = error_sys(err, "cannot set the mode of '%s'", target);
	return r;
}

static int merge(int from, int to, unsigned depth, struct error *err)
{
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	const char *name;
	int r = list_names(from, &names, err);

	if (r == 0 && depth > DEPTH_MOST)
		r = error_set(err, -ELOOP, "directories are nested more than %d levels deep",
			      DEPTH_MOST);
	strlist_for_each(name, &names) {
		cleanup_fd int below_from = -1;
		cleanup_fd int below_to = -1;
		struct stat st;
		struct stat there;

		if (r < 0)
			return r;
		if (fstatat(from, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			return error_sys(err, "cannot look at '%s'", name);
		if (!S_ISDIR(st.st_mode) ||
		    (fstatat(to, name, &there, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT)) {
			r = move_entry(from, name, &st, to, name, err);
			continue;
		}
		below_from = open_fresh(from, name, &st);
		below_to = openat(to, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (below_from < 0 || below_to < 0)
			return error_sys(err, "cannot add to '%s'", name);
		r = merge(below_from, below_to, depth + 1, err);
		if (r < 0)
			(void)error_prefix(err, r, "'%s'", name);
	}
	return r;
}

/* Remove pipes, sockets and devices at all levels. */
static int remove_special_files(const struct copy_host *host, struct error *err)
{
	struct process_options options = { .dir = host->scratch_path,
					   .no_stdin = true,
					   .user = &host->user,
					   .only_dir = geteuid() == 0 };
	int r = process_run(ARGV("find", ".", "!", "-type", "f", "!", "-type", "d", "!", "-type",
				 "l", "-delete"),
			    &options, err);

	return r > 0 ? error_set(err, -EIO, "cannot check what was copied") : r;
}

static int place_copy(const struct copy_host *host, const char *name, enum copy_kind kind,
		      const char *target, struct error *err)
{
	cleanup_fd int fresh = -1;
	struct stat st;

	if (fstatat(host->scratch, name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
	    !(kind == COPY_DIR ? S_ISDIR(st.st_mode) : S_ISREG(st.st_mode)))
		return error_because(err, &reason_copy, -EBADMSG,
				     "the source was replaced meanwhile");
	if (target)
		return move_entry(host->scratch, name, &st, host->dir, target, err);
	fresh = open_fresh(host->scratch, name, &st);
	if (fresh < 0)
		return error_sys(err, "cannot open '%s'", name);
	return merge(fresh, host->dir, 0, err);
}

int copy_host_place(const struct copy_host *host, const char *name, enum copy_kind kind,
		    const char *target, struct error *err)
{
	cleanup_with(user_leave) struct user_rights rights = USER_RIGHTS_INIT;
	int r = remove_special_files(host, err);

	if (r == 0)
		r = user_enter(&rights, err);
	if (r < 0)
		return r;
	r = place_copy(host, name, kind, target, err);
	return r < 0 ? error_reason(err, r, &reason_copy) : 0;
}

static void remove_scratch(const struct copy_host *host)
{
	struct process_options options = { .dir = host->dir_path,
					   .no_stdin = true,
					   .user = &host->user };
	cleanup_with(user_leave) struct user_rights rights = USER_RIGHTS_INIT;
	int r = user_enter(&rights, NULL);

	if (r == 0)
		r = unlinkat(host->dir, host->name, AT_REMOVEDIR);
	user_leave(&rights);
	if (r == 0 || !options.dir)
		return;
	/* A directory without write permission cannot be emptied. */
	(void)process_run(ARGV("chmod", "-R", "u+rwX", "--", host->name), &options, NULL);
	(void)process_run(ARGV("rm", "-rf", "--", host->name), &options, NULL);
}

void copy_host_release(struct copy_host *host)
{
	if (host->scratch >= 0)
		remove_scratch(host);
	cleanup_fd_(&host->scratch);
	cleanup_fd_(&host->dir);
	free(host->name);
	free(host->scratch_path);
	free(host->dir_path);
	user_release(&host->user);
	*host = COPY_HOST_INIT;
}
