#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "base/file.h"
#include "test.h"

static char *in_dir(const char *name)
{
	return xasprintf("%s/%s", test_dir(), name);
}

static bool is_database(const char *name, arg_unused const struct stat *st)
{
	return strcmp(name, "meta.db") == 0;
}

TEST(replaces_in_one_step)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_free char *path = in_dir("x");
	cleanup_free char *temp = in_dir("x.new");

	ASSERT_OK(file_replace(path, "one", 3, 0600, &err));
	ASSERT_OK(file_replace(path, "two", 3, 0600, &err));
	ASSERT_OK(file_read(path, 100, &text, &err));
	ASSERT_STR(text.text, "two");
	ASSERT(!file_exists(temp));
}

TEST(does_not_replace_a_device_with_a_file)
{
	cleanup_free char *path = in_dir("pipe");
	struct stat st;

	ASSERT_INT(mkfifo(path, 0600), 0);
	ASSERT_INT(file_replace(path, "x", 1, 0600, NULL), -EINVAL);
	ASSERT_INT(file_put(path, "x", 1, 0600, NULL), -EINVAL);
	ASSERT(stat(path, &st) == 0 && S_ISFIFO(st.st_mode));
	ASSERT_INT(file_check_replaceable("/dev/null", NULL), -EINVAL);
	ASSERT_INT(file_check_replaceable(test_dir(), NULL), 0);
	ASSERT_INT(file_check_replaceable("/nonexistent", NULL), 0);
}

TEST(does_not_block_on_a_fifo_that_replaces_a_file)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_free char *path = in_dir("pipe");

	ASSERT_INT(mkfifo(path, 0600), 0);
	(void)alarm(20);
	ASSERT_INT(file_read(path, 100, &text, NULL), -EINVAL);
	(void)alarm(0);
}

TEST(refuses_to_read_more_than_it_was_told)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_free char *path = in_dir("x");

	ASSERT_OK(file_replace(path, "12345", 5, 0600, &err));
	ASSERT_INT(file_read(path, 4, &text, NULL), -EFBIG);
	ASSERT_INT(file_read("/nonexistent", 4, &text, NULL), -ENOENT);
}

TEST(a_linked_tree_shares_all_files_except_copied_ones)
{
	cleanup_free char *from = in_dir("from/deep");
	cleanup_free char *blob = in_dir("from/deep/blob");
	cleanup_free char *database = in_dir("from/deep/meta.db");
	cleanup_free char *top = in_dir("from");
	cleanup_free char *to = in_dir("to");
	cleanup_free char *linked = in_dir("to/deep/blob");
	cleanup_free char *copied = in_dir("to/deep/meta.db");
	struct stat a;
	struct stat b;

	ASSERT_OK(file_make_dirs(from, 0755, &err));
	ASSERT_OK(file_replace(blob, "b", 1, 0644, &err));
	ASSERT_OK(file_replace(database, "d", 1, 0644, &err));
	ASSERT_OK(file_link_tree(top, to, is_database, &err));
	ASSERT_OK(file_link_tree(top, to, is_database, &err));
	ASSERT(stat(blob, &a) == 0 && stat(linked, &b) == 0);
	ASSERT_INT(a.st_ino, b.st_ino);
	ASSERT(stat(database, &a) == 0 && stat(copied, &b) == 0);
	ASSERT(a.st_ino != b.st_ino);
}

TEST(what_is_copied_of_a_tree_keeps_its_owner_and_mode)
{
	cleanup_free char *from = in_dir("from");
	cleanup_free char *database = in_dir("from/meta.db");
	cleanup_free char *to = in_dir("to");
	cleanup_free char *copied = in_dir("to/meta.db");
	struct stat st;

	if (geteuid() != 0)
		test_skip("needs root");
	ASSERT_OK(file_make_dirs(from, 0755, &err));
	ASSERT_OK(file_replace(database, "d", 1, 0644, &err));
	ASSERT_INT(chown(database, 123, 456), 0);
	ASSERT_INT(chmod(database, 04711), 0);
	ASSERT_OK(file_link_tree(from, to, is_database, &err));
	ASSERT_INT(stat(copied, &st), 0);
	ASSERT_INT(st.st_uid, 123);
	ASSERT_INT(st.st_gid, 456);
	ASSERT_INT(st.st_mode & 07777, 04711);
}

TEST(removing_what_is_missing_is_no_error)
{
	cleanup_free char *path = in_dir("a");
	cleanup_free char *deep = in_dir("a/b/c");

	ASSERT_OK(file_remove_tree(path, &err));
	ASSERT_OK(file_make_dirs(deep, 0755, &err));
	ASSERT_OK(file_remove_tree(path, &err));
	ASSERT(!file_exists(path));
}

/* Make DEPTH directories below PATH, each in the one before, with a file and a directory beside
 * each. */
static void make_deep(const char *path, int depth)
{
	int fd;

	ASSERT_INT(mkdir(path, 0755), 0);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (int i = 0; i < depth; i++) {
		int next;

		ASSERT_INT(mkdirat(fd, "d", 0755), 0);
		if (i % 1000 == 0) {
			ASSERT_INT(mkdirat(fd, "e", 0555), 0);
			ASSERT_INT(mknodat(fd, "f", S_IFREG | 0644, 0), 0);
			ASSERT_INT(symlinkat("..", fd, "up"), 0);
		}
		next = openat(fd, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		ASSERT(next >= 0);
		(void)close(fd);
		fd = next;
	}
	(void)close(fd);
}

TEST(a_very_deep_tree_is_removed_with_few_descriptors)
{
	const struct rlimit few = { .rlim_cur = 200, .rlim_max = 200 };
	cleanup_free char *path = in_dir("deep");
	cleanup_free char *taken = in_dir("deep/.removed-0");
	cleanup_free char *inside = in_dir("deep/.removed-0/inside");
	cleanup_free char *beside = in_dir("beside");
	cleanup_free char *link = in_dir("deep/link");

	ASSERT_OK(file_replace(beside, "kept", 4, 0644, &err));
	make_deep(path, 50000);
	ASSERT_INT(symlink("..", link), 0);
	ASSERT_INT(mkdir(taken, 0755), 0);
	ASSERT_OK(file_replace(inside, "x", 1, 0644, &err));
	ASSERT_INT(setrlimit(RLIMIT_NOFILE, &few), 0);
	ASSERT(file_tree_bytes(path, true) < 100 << 20);
	ASSERT_OK(file_remove_tree(path, &err));
	ASSERT(!file_exists(path));
	ASSERT(file_exists(beside));
}

TEST(no_more_of_a_tree_is_counted_than_asked_for)
{
	cleanup_free char *path = in_dir("tree");
	uint64_t empty;

	ASSERT_OK(file_make_dirs(path, 0755, &err));
	empty = file_tree_bytes(path, true);
	for (unsigned i = 0; i < 5; i++) {
		cleanup_free char *file = xasprintf("%s/%u", path, i);

		ASSERT_OK(file_replace(file, "x", 1, 0644, &err));
	}
	ASSERT_INT(file_tree_bytes_most(path, true, 3),
		   empty + (file_tree_bytes(path, true) - empty) / 5 * 2);
	ASSERT_INT(file_tree_bytes_most(path, true, 6), file_tree_bytes(path, true));
}

TEST(removing_a_tree_leaves_mounts_in_it_alone)
{
	cleanup_free char *path = in_dir("a");
	cleanup_free char *mounted = in_dir("a/b/c");
	cleanup_free char *kept = in_dir("kept");
	cleanup_free char *file = in_dir("kept/file");

	if (geteuid() != 0)
		test_skip("needs root");
	ASSERT_OK(file_make_dirs(mounted, 0755, &err));
	ASSERT_OK(file_make_dirs(kept, 0755, &err));
	ASSERT_OK(file_replace(file, "kept", 4, 0644, &err));
	ASSERT_INT(unshare(CLONE_NEWNS), 0);
	ASSERT_INT(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
	/* Of the same file system: what tells it from a directory is the mount alone. */
	ASSERT_INT(mount(kept, mounted, NULL, MS_BIND, NULL), 0);
	ASSERT_INT(file_remove_tree(path, NULL), -EBUSY);
	ASSERT(file_exists(file));
	ASSERT_INT(umount2(mounted, 0), 0);
	ASSERT_OK(file_remove_tree(path, &err));
}

TEST(a_lock_names_its_holder)
{
	cleanup_with(error_clear) struct error err = ERROR_INIT;
	cleanup_free char *path = in_dir("lock");
	cleanup_free char *expected = NULL;
	cleanup_fd int fd = -1;
	int other = -1;
	int status;
	pid_t pid;

	ASSERT_INT(file_lock_holder(path), 0);
	ASSERT_INT(file_lock(path, "start", &fd, NULL), 0);
	ASSERT_INT(file_lock_holder(path), getpid());
	expected = xasprintf("locked by process %d start", (int)getpid());
	pid = fork();
	if (pid == 0) {
		int r = file_lock(path, "delete", &other, &err);

		_exit(r == -EWOULDBLOCK && strcmp(err.text, expected) == 0 ? 0 : 1);
	}
	ASSERT(waitpid(pid, &status, 0) == pid && status == 0);
	(void)close(take_fd(fd));
	ASSERT_INT(file_lock_holder(path), 0);
}

/* Be the user 12345 in a child that holds the lock FD until it is killed; returns its pid. */
static pid_t hold_as_user(int fd)
{
	int ready[2];
	pid_t pid;
	char byte;

	ASSERT_INT(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		(void)!(setresuid(12345, 12345, 12345) == 0 &&
			prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 &&
			flock(fd, LOCK_EX | LOCK_NB) == 0 && write(ready[1], "x", 1));
		for (;;)
			(void)pause();
	}
	ASSERT_INT(read(ready[0], &byte, 1), 1);
	(void)close(ready[0]);
	(void)close(ready[1]);
	return pid;
}

static void write_note(const char *path, pid_t pid)
{
	cleanup_free char *note = xasprintf("%d front-door\n", (int)pid);
	cleanup_fd int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	ASSERT_INT(write(fd, note, strlen(note)), strlen(note));
}

TEST(a_lock_that_another_user_holds_leads_to_no_process_of_root)
{
	cleanup_free char *path = in_dir("lock");
	cleanup_fd int fd = -1;
	struct stat st;
	int lock = -1;
	pid_t user;

	if (geteuid() != 0)
		test_skip("needs root");
	/* A holder of the past, whose pid a process of root has now. */
	write_note(path, getpid());
	fd = open(path, O_RDONLY | O_CLOEXEC);
	user = hold_as_user(fd);
	ASSERT_INT(file_lock_holder(path), 0);
	write_note(path, user);
	(void)close(take_fd(fd));
	ASSERT_INT(kill(user, SIGKILL), 0);
	ASSERT_INT(waitpid(user, NULL, 0), user);
	/* A pid that the user's process has now. */
	fd = open(path, O_RDONLY | O_CLOEXEC);
	user = hold_as_user(fd);
	write_note(path, user);
	ASSERT_INT(file_lock_holder(path), 0);
	ASSERT_INT(kill(user, SIGKILL), 0);
	ASSERT_INT(waitpid(user, NULL, 0), user);
	(void)close(take_fd(fd));
	/* One of root's is found, also by those who cannot read it, and nobody is when it ends. */
	ASSERT_INT(file_lock_private(path, "own", 0, &lock, NULL), 0);
	ASSERT_INT(file_lock_holder(path), getpid());
	ASSERT_INT(chmod(test_dir(), 0755) + seteuid(12345), 0);
	ASSERT_INT(file_lock_holder(path), getpid());
	ASSERT_INT(seteuid(0), 0);
	file_unlock(&lock);
	ASSERT_INT(lock, -1);
	ASSERT_INT(lstat(path, &st) + (int)st.st_size, 0);
}

TEST(a_directory_that_others_lock_for_ever_keeps_nobody_from_changing_it)
{
	cleanup_fd int other = open(test_dir(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cleanup_fd int own = open(test_dir(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	ASSERT_INT(flock(other, LOCK_EX), 0);
	ASSERT_INT(file_lock_fd(own, test_dir(), 20, NULL), -EWOULDBLOCK);
	ASSERT_OK(file_lock_or_warn(own, test_dir(), 20, &err));
}

TEST(a_lock_names_a_holder_that_wrote_no_name)
{
	cleanup_with(error_clear) struct error err = ERROR_INIT;
	cleanup_free char *path = in_dir("lock");
	cleanup_free char *expected = NULL;
	cleanup_fd int ours = -1;
	int ready[2];
	struct stat st;
	pid_t pid;
	char byte;

	ASSERT_INT(file_lock_private(path, "one", 0, &ours, NULL), 0);
	ASSERT(fstat(ours, &st) == 0 && (st.st_mode & 0777) == 0600);
	(void)close(take_fd(ours));
	ASSERT_INT(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		int fd = open(path, O_RDONLY);

		(void)!(flock(fd, LOCK_EX) == 0 && write(ready[1], "x", 1));
		for (;;)
			(void)pause();
	}
	ASSERT_INT(read(ready[0], &byte, 1), 1);
	expected = xasprintf("locked by process %d (test-file)", (int)pid);
	ASSERT_INT(file_lock_private(path, "two", 50, &ours, &err), -EWOULDBLOCK);
	ASSERT_STR(err.text, expected);
	(void)kill(pid, SIGKILL);
	ASSERT_INT(waitpid(pid, NULL, 0), pid);
	ASSERT_INT(file_lock_private(path, "two", 50, &ours, NULL), 0);
}
