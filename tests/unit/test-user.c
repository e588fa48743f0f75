#include "base/user.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include "base/file.h"
#include "base/process.h"
#include "test.h"

/* As sudo has it: root on behalf of a user. */
static void become_sudo(void)
{
	if (geteuid() != 0)
		test_skip("needs root");
	ASSERT_INT(setenv("SUDO_UID", "12345", 1), 0);
	ASSERT_INT(setenv("SUDO_GID", "12346", 1), 0);
	ASSERT_INT(chmod(test_dir(), 0755), 0);
}

/* Whether a process of user UID can read PATH. */
static bool can_read(unsigned uid, char *path)
{
	cleanup_free char *user = xasprintf("--reuid=%u", uid);

	return process_run(
		       ARGV("setpriv", user, "--regid=54321", "--clear-groups", "test", "-r", path),
		       NULL, NULL) == 0;
}

TEST(the_rights_are_those_of_the_user_until_they_end)
{
	cleanup_free char *roots = xasprintf("%s/roots", test_dir());
	cleanup_free char *new = xasprintf("%s/new", test_dir());
	struct user_rights rights = USER_RIGHTS_INIT;
	struct user_rights inner = USER_RIGHTS_INIT;
	struct stat st;

	become_sudo();
	ASSERT_OK(file_put(roots, "x", 1, 0600, &err));
	ASSERT_OK(user_enter(&rights, &err));
	ASSERT_OK(user_enter(&inner, &err));
	user_leave(&inner);
	ASSERT(open(roots, O_RDONLY | O_CLOEXEC) < 0);
	ASSERT_INT(errno, EACCES);
	ASSERT_INT(mkdir(new, 0755), -1);
	user_leave(&rights);
	user_leave(&rights);
	ASSERT_OK(file_put(roots, "y", 1, 0600, &err));
	ASSERT_INT(mkdir(new, 0755), 0);
	ASSERT_INT(chown(new, 12345, 12346), 0);
	ASSERT_OK(user_enter(&rights, &err));
	free(new);
	new = xasprintf("%s/new/inner", test_dir());
	ASSERT_INT(mkdir(new, 0755), 0);
	user_leave(&rights);
	ASSERT_INT(stat(new, &st), 0);
	ASSERT_INT(st.st_uid, 12345);
	ASSERT_INT(st.st_gid, 12346);
	/* Unreadable in /proc, nodes could not be set up. */
	ASSERT_INT(access("/proc/self/fd", R_OK | X_OK), 0);
}

/* Whether user_open() opens PATH; what it says otherwise is in ERR. */
static bool opens(const char *path, struct error *why)
{
	cleanup_fd int fd = -1;

	return user_open(path, O_NONBLOCK, &fd, why) == 0;
}

TEST(files_that_the_user_names_are_opened_with_their_rights)
{
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	cleanup_free char *secret = xasprintf("%s/secret", test_dir());
	cleanup_free char *link = xasprintf("%s/link", test_dir());
	cleanup_free char *own = xasprintf("%s/own", test_dir());
	int ends[2];

	become_sudo();
	ASSERT_OK(file_put(secret, "x", 1, 0600, &err));
	ASSERT_INT(symlink(secret, link), 0);
	ASSERT_OK(file_put(own, "x", 1, 0600, &err));
	ASSERT_INT(chown(own, 12345, 12346), 0);
	ASSERT(opens(own, &why));
	ASSERT(!opens(link, &why));
	ASSERT(strstr(why.hint, "12345"));
	/* A pipe of root's, as sudo makes it. */
	ASSERT_INT(pipe(ends), 0);
	ASSERT_INT(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
	ASSERT(opens("/dev/stdin", NULL));
	ASSERT_INT(unsetenv("SUDO_UID"), 0);
	ASSERT(opens(link, NULL));
}

/* As in a container without other users. */
TEST(rights_that_cannot_be_had_are_an_error)
{
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	struct user_rights rights = USER_RIGHTS_INIT;

	become_sudo();
	ASSERT_INT(unshare(CLONE_NEWUSER), 0);
	ASSERT_OK(file_poke("/proc/self/uid_map", "0 0 1", &err));
	ASSERT_OK(file_poke("/proc/self/setgroups", "deny", &err));
	ASSERT_OK(file_poke("/proc/self/gid_map", "0 0 1", &err));
	ASSERT_INT(user_enter(&rights, &why), -EPERM);
	ASSERT_STR(why.text, "cannot take the rights of user 12345");
	ASSERT(!rights.active);
	user_leave(&rights);
	ASSERT_INT(access("/proc/self/fd", R_OK | X_OK), 0);
}

TEST(root_itself_is_a_user_like_others)
{
	struct user_rights rights = USER_RIGHTS_INIT;

	ASSERT_INT(unsetenv("SUDO_UID"), 0);
	ASSERT_OK(user_enter(&rights, &err));
	ASSERT(!rights.active);
	user_leave(&rights);
}

TEST(directories_are_the_users_wherever_they_are_made)
{
	cleanup_free char *deep = xasprintf("%s/a/b", test_dir());
	cleanup_free char *inner = xasprintf("%s/a/b/c", test_dir());
	struct stat st;

	become_sudo();
	ASSERT_OK(user_make_directory(deep, &err));
	ASSERT_OK(user_make_directory(inner, &err));
	ASSERT_OK(user_make_directory(inner, &err));
	ASSERT_INT(stat(inner, &st), 0);
	ASSERT_INT(st.st_uid, 12345);
	ASSERT_INT(st.st_mode & 0777, 0700);
	/* Closed by the user: another could take its place while it is made. */
	ASSERT_INT(chmod(inner, 0555), 0);
	free(deep);
	deep = xasprintf("%s/d", inner);
	ASSERT_INT(user_make_directory(deep, NULL), -EACCES);
	ASSERT(!file_exists(deep));
}

TEST(what_the_user_may_read_nobody_else_may)
{
	cleanup_free char *directory = xasprintf("%s/directory", test_dir());
	cleanup_free char *file = xasprintf("%s/directory/key", test_dir());
	struct stat st;

	become_sudo();
	ASSERT_INT(mkdir(directory, 0700), 0);
	ASSERT_OK(file_put(file, "secret", 6, 0600, &err));
	if (setxattr(file, "user.test", "", 0, 0) < 0 && errno == EOPNOTSUPP)
		test_skip("this file system has no attributes");
	ASSERT_OK(user_may_read(file, &err));
	ASSERT_OK(user_may_read(directory, &err));
	ASSERT(can_read(12345, file));
	ASSERT(!can_read(12347, file));
	ASSERT(!can_read(12347, directory));
	ASSERT_INT(stat(file, &st), 0);
	ASSERT_INT(st.st_uid, 0);
	ASSERT_INT(st.st_mode & 0022, 0);
}

TEST(nothing_is_given_through_a_link)
{
	cleanup_free char *file = xasprintf("%s/key", test_dir());
	cleanup_free char *link = xasprintf("%s/link", test_dir());

	become_sudo();
	ASSERT_OK(file_put(file, "secret", 6, 0600, &err));
	ASSERT_INT(symlink(file, link), 0);
	ASSERT(user_may_read(link, NULL) < 0);
	ASSERT(!can_read(12345, file));
}

/* Have the user called ann, in a group ann that has MEMBERS, too. */
static void name_user(const char *members)
{
	cleanup_free char *users = xasprintf("%s/passwd", test_dir());
	cleanup_free char *groups = xasprintf("%s/group", test_dir());
	cleanup_free char *text = xasprintf("root:x:0:\nann:x:12346:%s\n", members);
	static const char passwd[] = "root:x:0:0::/:/bin/sh\nann:x:12345:12346::/:/bin/sh\n";

	(void)umount("/etc/passwd");
	(void)umount("/etc/group");
	ASSERT_OK(file_put(users, passwd, strlen(passwd), 0644, &err));
	ASSERT_OK(file_put(groups, text, strlen(text), 0644, &err));
	ASSERT_INT(mount(users, "/etc/passwd", NULL, MS_BIND, NULL), 0);
	ASSERT_INT(mount(groups, "/etc/group", NULL, MS_BIND, NULL), 0);
}

TEST(without_access_lists_only_a_group_of_the_users_own_may_read)
{
	cleanup_free char *file = xasprintf("%s/plain/key", test_dir());
	cleanup_free char *plain = xasprintf("%s/plain", test_dir());
	struct stat st;

	become_sudo();
	if (unshare(CLONE_NEWNS) < 0)
		test_skip("needs a mount namespace");
	ASSERT_INT(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
	ASSERT_INT(mkdir(plain, 0755), 0);
	ASSERT_INT(mount("test", plain, "ramfs", 0, NULL), 0);
	ASSERT_OK(file_put(file, "secret", 6, 0600, &err));
	name_user("bob");
	ASSERT_OK(user_may_read(file, &err));
	ASSERT_INT(stat(file, &st), 0);
	ASSERT_INT(st.st_gid, 0);
	ASSERT_INT(st.st_mode & 0777, 0600);
	name_user("");
	ASSERT_OK(user_may_read(file, &err));
	ASSERT_INT(stat(file, &st), 0);
	ASSERT_INT(st.st_uid, 0);
	ASSERT_INT(st.st_gid, 12346);
	ASSERT_INT(st.st_mode & 0777, 0640);
	ASSERT_INT(umount(plain), 0);
}
