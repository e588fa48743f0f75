#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/jobs.h"
#include "base/user-file.h"
#include "test.h"

static int fail_at_it(const void *arg, struct error *why)
{
	return error_set(why, -EIO, "cannot do %s", (const char *)arg);
}

static int count_up(const void *arg, arg_unused struct error *why)
{
	__atomic_add_fetch(*(int *const *)arg, 1, __ATOMIC_SEQ_CST);
	return 0;
}

static int die(arg_unused const void *arg, arg_unused struct error *why)
{
	raise(SIGKILL);
	return 0;
}

TEST(jobs_run_at_once_and_succeed)
{
	int *count = mmap(NULL, sizeof(*count), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			  -1, 0);
	struct job jobs[3];

	ASSERT(count != MAP_FAILED);
	for (size_t i = 0; i < ARRAY_SIZE(jobs); i++)
		ASSERT_OK(job_begin(count_up, &count, &jobs[i], &err));
	for (size_t i = 0; i < ARRAY_SIZE(jobs); i++)
		ASSERT_OK(job_end(&jobs[i], &err));
	ASSERT_INT(*count, 3);
}

TEST(the_error_of_a_job_arrives)
{
	cleanup_with(error_clear) struct error problem = ERROR_INIT;
	struct job job = JOB_INIT;

	ASSERT_OK(job_begin(fail_at_it, "the dishes", &job, &err));
	ASSERT_INT(job_end(&job, &problem), -EIO);
	ASSERT_STR(problem.text, "cannot do the dishes");
}

TEST(a_job_that_dies_is_an_error)
{
	cleanup_with(error_clear) struct error problem = ERROR_INIT;
	struct job job = JOB_INIT;

	ASSERT_OK(job_begin(die, NULL, &job, &err));
	ASSERT_INT(job_end(&job, &problem), -EIO);
	ASSERT_STR(problem.text, "a process ended unexpectedly");
}

/* The entries of the test's directory. */
static size_t count_files(void)
{
	DIR *dir = opendir(test_dir());
	size_t count = 0;

	ASSERT(dir);
	while (readdir(dir))
		count++;
	(void)closedir(dir);
	return count;
}

TEST(a_file_of_the_user_appears_when_it_is_complete)
{
	cleanup_free char *path = xasprintf("%s/file", test_dir());
	cleanup_with(user_file_release) struct user_file file = USER_FILE_INIT;
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	struct stat st;

	ASSERT_OK(user_file_create(path, 0640, &file, &err));
	ASSERT_INT(write(file.fd, "new", 3), 3);
	ASSERT(!file_exists(path));
	ASSERT_OK(user_file_settle(&file, 0, &err));
	user_file_release(&file);
	ASSERT_OK(file_read(path, 100, &text, &err));
	ASSERT_STR(text.text, "new");
	ASSERT_INT(stat(path, &st), 0);
	ASSERT_INT(st.st_mode & 0777, 0640);
}

TEST(a_file_that_could_not_be_written_leaves_the_old_one)
{
	cleanup_with(error_clear) struct error problem = ERROR_INIT;
	cleanup_free char *path = xasprintf("%s/file", test_dir());
	cleanup_with(user_file_release) struct user_file file = USER_FILE_INIT;
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	size_t before;

	ASSERT_OK(file_put(path, "old", 3, 0644, &err));
	before = count_files();
	ASSERT_OK(user_file_create(path, 0644, &file, &err));
	ASSERT_INT(write(file.fd, "half", 4), 4);
	ASSERT_INT(user_file_settle(&file, -EIO, &problem), -EIO);
	user_file_release(&file);
	ASSERT_OK(file_read(path, 100, &text, &err));
	ASSERT_STR(text.text, "old");
	ASSERT_INT(count_files(), before);
}

TEST(a_pipe_is_not_replaced)
{
	cleanup_with(error_clear) struct error problem = ERROR_INIT;
	cleanup_free char *path = xasprintf("%s/pipe", test_dir());
	cleanup_with(user_file_release) struct user_file file = USER_FILE_INIT;
	struct stat st;

	ASSERT_INT(mkfifo(path, 0600), 0);
	ASSERT(user_file_create(path, 0644, &file, &problem) < 0);
	ASSERT(problem.reason == &reason_usage);
	ASSERT_INT(lstat(path, &st), 0);
	ASSERT(S_ISFIFO(st.st_mode));
}

TEST(a_missing_directory_is_a_missing_path)
{
	struct error missing = ERROR_INIT;
	struct error other = ERROR_INIT;
	cleanup_with(user_file_release) struct user_file file = USER_FILE_INIT;

	ASSERT_INT(user_file_create("/nonexistent/x.tar.gz", 0644, &file, &missing), -ENOENT);
	ASSERT(missing.reason == &reason_host_path);
	user_file_release(&file);
	ASSERT_INT(user_file_create("/dev/null/x.tar.gz", 0644, &file, &other), -ENOTDIR);
	ASSERT(other.reason == &reason_host_path);
	error_clear(&missing);
	error_clear(&other);
}

TEST(a_link_of_another_user_is_not_followed)
{
	cleanup_with(error_clear) struct error problem = ERROR_INIT;
	cleanup_free char *path = xasprintf("%s/link", test_dir());
	cleanup_with(user_file_release) struct user_file file = USER_FILE_INIT;

	if (geteuid() != 0)
		test_skip("needs root");
	ASSERT_INT(symlink("/nonexistent/target", path), 0);
	ASSERT_INT(lchown(path, 12345, 12345), 0);
	ASSERT_INT(user_file_create(path, 0644, &file, &problem), -ELOOP);
}

TEST(every_link_on_the_way_is_looked_at)
{
	cleanup_with(error_clear) struct error problem = ERROR_INIT;
	cleanup_free char *kept = xasprintf("%s/kept", test_dir());
	cleanup_free char *theirs = xasprintf("%s/theirs", test_dir());
	cleanup_free char *below = xasprintf("%s/below", test_dir());
	cleanup_free char *own = xasprintf("%s/below/own", test_dir());
	cleanup_with(user_file_release) struct user_file file = USER_FILE_INIT;
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	size_t before;

	if (geteuid() != 0)
		test_skip("needs root");
	ASSERT_OK(file_put(kept, "old", 3, 0644, &err));
	ASSERT_INT(symlink(kept, theirs), 0);
	ASSERT_INT(lchown(theirs, 12345, 12345), 0);
	ASSERT_INT(mkdir(below, 0755), 0);
	ASSERT_INT(symlink("../theirs", own), 0);
	before = count_files();
	ASSERT_INT(user_file_create(own, 0644, &file, &problem), -ELOOP);
	user_file_release(&file);
	ASSERT_INT(count_files(), before);
	/* Links of our own lead to a file. */
	ASSERT_INT(lchown(theirs, 0, 0), 0);
	ASSERT_OK(user_file_create(own, 0644, &file, &err));
	ASSERT_INT(write(file.fd, "new", 3), 3);
	/* An exchanged link afterwards leads nowhere else. */
	ASSERT_INT(unlink(theirs), 0);
	ASSERT_INT(symlink("/nonexistent/target", theirs), 0);
	ASSERT_OK(user_file_settle(&file, 0, &err));
	user_file_release(&file);
	ASSERT_OK(file_read(kept, 100, &text, &err));
	ASSERT_STR(text.text, "new");
}

/* In a child, give DIR/foreign to a link of another user to TARGET and to nothing in turn. */
static pid_t exchange_links(const char *dir, const char *target, const char *path)
{
	cleanup_free char *made = xasprintf("%s/made", dir);
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		(void)!(symlink(target, made) == 0 && lchown(made, 12345, 12345) == 0 &&
			rename(made, path) == 0 && unlink(path) == 0);
}

TEST(no_exchanged_link_is_followed)
{
	cleanup_free char *kept = xasprintf("%s/kept", test_dir());
	cleanup_free char *foreign = xasprintf("%s/dir/foreign", test_dir());
	cleanup_free char *dir = xasprintf("%s/dir", test_dir());
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	int64_t end;
	pid_t pid;

	if (geteuid() != 0)
		test_skip("needs root");
	ASSERT_INT(mkdir(dir, 0777), 0);
	ASSERT_OK(file_put(kept, "old", 3, 0644, &err));
	/* Made elsewhere and moved, so that it never is root's under its name. */
	end = clock_now_ms() + 300;
	pid = exchange_links(dir, kept, foreign);
	while (clock_now_ms() < end) {
		cleanup_with(user_file_release) struct user_file file = USER_FILE_INIT;
		cleanup_with(error_clear) struct error problem = ERROR_INIT;

		if (user_file_create(foreign, 0644, &file, &problem) == 0)
			(void)user_file_settle(&file, 0, &problem);
	}
	ASSERT_INT(kill(pid, SIGKILL), 0);
	ASSERT_INT(waitpid(pid, NULL, 0), pid);
	ASSERT_OK(file_read(kept, 100, &text, &err));
	ASSERT_STR(text.text, "old");
}
