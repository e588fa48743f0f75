/* The user who builds from source. */

#include "payload/builder.h"

#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/below.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"

#define PROGRAM_LIMIT (INT64_C(1) << 30)

static uid_t builder_uid(void)
{
	uid_t uid = path_person_uid();

	return uid ? uid : PAYLOAD_BUILD_UID;
}

static gid_t builder_gid(void)
{
	gid_t gid = path_person_gid();

	return gid ? gid : PAYLOAD_BUILD_UID;
}

int builder_settle(struct work *work, struct error *err)
{
	cleanup_free char *directory = work_path(work, "work/build/go");
	struct stat st;

	if (lstat(directory, &st) < 0 || (S_ISDIR(st.st_mode) && st.st_uid == builder_uid()))
		return 0;
	return file_remove_tree(directory, err);
}

int builder_prepare(struct work *work, char **ret_directory, struct error *err)
{
	cleanup_free char *above = work_path(work, "work/build");
	cleanup_free char *directory = work_path(work, "work/build/go");
	int r = file_make_dirs(above, 0700, err);

	if (r < 0)
		return r;
	/* This is safe: only we can enter the parent directory. */
	if (mkdir(directory, 0700) < 0 && errno != EEXIST)
		return error_sys(err, "cannot make '%s'", directory);
	if (lchown(directory, builder_uid(), builder_gid()) < 0)
		return error_sys(err, "cannot give '%s' to user %u", directory, builder_uid());
	*ret_directory = take_ptr(directory);
	return 0;
}

int builder_become(const char *directory, char **ret_root, struct error *err)
{
	pid_t parent = getppid();

	/* Detach from the terminal, into which a program could inject input. */
	(void)setsid();
	(void)umask(022);
	if (geteuid() != 0) {
		*ret_root = xstrdup(directory);
		return 0;
	}
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount(directory, BUILDER_ROOT, NULL, MS_BIND, NULL) < 0 ||
	    mount(NULL, BUILDER_ROOT, NULL, MS_REMOUNT | MS_BIND | MS_NOSUID | MS_NODEV, NULL) < 0)
		return error_sys(err, "cannot mount '%s' for the builder", directory);
	if (setgroups(0, NULL) < 0 || setresgid(builder_gid(), builder_gid(), builder_gid()) < 0 ||
	    setresuid(builder_uid(), builder_uid(), builder_uid()) < 0 ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return error_sys(err, "cannot become user %u", builder_uid());
	/* Set after the change of ids, which clears it. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent)
		return error_set(err, -ESRCH, "the parent process of the build is gone");
	*ret_root = xstrdup(BUILDER_ROOT);
	return 0;
}

char *builder_home(void)
{
	char *home = NULL;

	return path_person_uid() != 0 && path_home(&home, NULL) == 0 ? home : NULL;
}

/* Whether the file was made by the builder.  A hard link could otherwise make us publish a file of
 * another user. */
static bool is_made(const struct stat *st)
{
	return S_ISREG(st->st_mode) && st->st_nlink == 1 && st->st_uid == builder_uid() &&
	       st->st_size > 0 && st->st_size <= PROGRAM_LIMIT;
}

int builder_take(const char *directory, const char *path, const char *to, struct error *err)
{
	cleanup_fd int in = -1;
	cleanup_fd int out = -1;
	struct stat st;
	int r = below_open(directory, path, 0, &in, err);

	if (r < 0)
		return r;
	if (fstat(in, &st) < 0 || !is_made(&st))
		return error_because(err, &reason_download, -EBADMSG,
				     "'%s/%s' was not made by the build", directory, path);
	(void)unlink(to);
	out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0755);
	if (out < 0)
		return error_sys(err, "cannot make '%s'", to);
	for (int64_t left = st.st_size; left > 0;) {
		ssize_t len = sendfile(out, in, NULL, (size_t)left);

		if (len < 0)
			return error_sys(err, "cannot copy '%s/%s'", directory, path);
		if (len == 0)
			return error_because(err, &reason_download, -EBADMSG,
					     "'%s/%s' was truncated while it was copied", directory,
					     path);
		left -= len;
	}
	return 0;
}
