#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/process.h"
#include "test.h"

TEST(passes_the_exit_status)
{
	ASSERT_INT(process_run(ARGV("sh", "-c", "exit 7"), NULL, NULL), 7);
	ASSERT_INT(process_run(ARGV("sh", "-c", "kill -9 $$"), NULL, NULL), 137);
}

TEST(names_a_missing_program)
{
	cleanup_with(error_clear) struct error err = ERROR_INIT;

	ASSERT_INT(process_run(ARGV("no-such-program"), NULL, &err), -ENOENT);
	ASSERT_STR(err.text, "there is no program 'no-such-program'");
}

TEST(captures_what_it_prints)
{
	cleanup_with(strbuf_release) struct strbuf out = STRBUF_INIT;

	ASSERT_INT(process_capture(ARGV("echo", "hello"), NULL, &out, NULL), 0);
	ASSERT_STR(out.text, "hello\n");
}

TEST(waits_no_longer_than_it_was_told)
{
	cleanup_with(process_release) struct process process = PROCESS_INIT;

	ASSERT_OK(process_spawn(ARGV("sleep", "60"), NULL, &process, &err));
	ASSERT_INT(process_wait(&process, clock_now_ms() + 20, NULL), -ETIMEDOUT);
}

TEST(recognizes_a_process_by_its_start_time)
{
	uint64_t start = process_start_time(getpid());

	ASSERT(start > 0);
	ASSERT(process_is(getpid(), start));
	ASSERT(!process_is(getpid(), start + 1));
	ASSERT(!process_is(0, start));
}

TEST(sees_whether_a_process_was_stopped_by_a_signal)
{
	struct process process;
	siginfo_t info;

	ASSERT_OK(process_spawn(ARGV("sleep", "30"), NULL, &process, &err));
	ASSERT(!process_is_halted(process.pid));
	ASSERT_INT(kill(process.pid, SIGSTOP), 0);
	ASSERT_INT(waitid(P_PID, (id_t)process.pid, &info, WSTOPPED), 0);
	ASSERT(process_is_halted(process.pid));
	/* It still is that process. */
	ASSERT(process_start_time(process.pid) > 0);
	ASSERT_INT(kill(process.pid, SIGKILL), 0);
	ASSERT(process_wait(&process, 0, NULL) != 0);
	ASSERT(!process_is_halted(process.pid));
}

/* For programs that read what is not to be trusted. */
TEST(a_confined_program_has_only_its_descriptors)
{
	static char script[] =
		"id -u; id -G; grep -E '^(CapEff|NoNewPrivs)' /proc/self/status; cat;"
		" cat /proc/self/fd/0 2>&1 | grep -o denied; echo ${MANYKUBE_HOME-none}";
	cleanup_with(strbuf_release) struct strbuf output = STRBUF_INIT;
	cleanup_free char *path = xasprintf("%s/secret", test_dir());
	struct process_options options = { .confined_uid = 0xfffd00ff };
	cleanup_fd int fd = -1;

	if (geteuid() != 0)
		test_skip("needs root");
	ASSERT_OK(file_put(path, "text\n", 5, 0600, &err));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	options.stdin_fd = fd;
	ASSERT_INT(setenv("MANYKUBE_HOME", "/nowhere", 1), 0);
	/* The file is root's: what was opened can be read, but not opened again. */
	ASSERT_INT(process_capture(ARGV("sh", "-c", script), &options, &output, NULL), 0);
	ASSERT_STR(output.text, "4294770943\n4294770943\nCapEff:\t0000000000000000\n"
				"NoNewPrivs:\t1\ntext\ndenied\nnone\n");
}

/* Run the shell command SCRIPT with OPTIONS in the directory `here` of the test's own. */
static int run_in_here(const char *script, struct process_options options)
{
	cleanup_free char *here = xasprintf("%s/here", test_dir());
	cleanup_free char *command = xstrdup(script);

	ASSERT(mkdir(here, 0777) == 0 || errno == EEXIST);
	ASSERT_INT(chmod(here, 0777) + chmod(test_dir(), 0777), 0);
	options.dir = here;
	options.no_stdin = true;
	return process_run(ARGV("sh", "-c", command), &options, NULL);
}

TEST(a_confined_program_writes_only_in_its_dir)
{
	struct process_options options = { .only_dir = true };

	if (geteuid() != 0)
		test_skip("needs root");
	ASSERT_INT(run_in_here("echo x >file && mkdir sub && echo x >sub/file", options), 0);
	ASSERT(run_in_here("echo x >../file", options) > 0);
	ASSERT(run_in_here("ln -s .. up; echo x >up/file", options) > 0);
	ASSERT(run_in_here("ln file ../linked", options) > 0);
	ASSERT(run_in_here("echo 0 >/proc/sys/kernel/panic_on_warn", options) > 0);
	/* Others see what it wrote, and no mount of it. */
	ASSERT_INT(run_in_here("cat sub/file >../file", (struct process_options){ 0 }), 0);
}

TEST(a_program_of_the_user_has_no_more_rights)
{
	cleanup_with(user_release) struct user user = USER_INIT;
	cleanup_with(user_leave) struct user_rights rights = USER_RIGHTS_INIT;
	struct process_options options = { .user = &user };

	if (geteuid() != 0)
		test_skip("needs root");
	ASSERT_INT(setenv("SUDO_UID", "12345", 1) + setenv("SUDO_GID", "12346", 1), 0);
	user_find(&user);
	ASSERT_INT(run_in_here("test \"$(id -u):$(id -g):$(id -G)\" = 12345:12346:12346", options),
		   0);
	ASSERT(run_in_here("cat /etc/shadow", options) > 0);
	ASSERT_OK(user_enter(&rights, &err));
	ASSERT_INT(open("/etc/shadow", O_RDONLY), -1);
	user_leave(&rights);
	ASSERT_INT(close(open("/etc/shadow", O_RDONLY)), 0);
}

static const struct process_limit file_limits[] = {
	{ RLIMIT_NOFILE, 1 << 30 },
	{ RLIMIT_CORE, 0 },
	{ RLIMIT_NOFILE, 20 },
};

static int enter_limits(arg_unused const void *arg)
{
	return process_lower_limits(file_limits, ARRAY_SIZE(file_limits));
}

TEST(limits_are_lowered_for_good_and_never_raised)
{
	cleanup_with(strbuf_release) struct strbuf output = STRBUF_INIT;
	struct process_options options = { .enter = enter_limits };
	const struct process_limit unknown[] = { { (__rlimit_resource_t)9999, 0 } };

	ASSERT_INT(process_capture(ARGV("sh", "-c", "ulimit -Hn; ulimit -Sn; ulimit -Hc"), &options,
				   &output, NULL),
		   0);
	ASSERT_STR(output.text, "20\n20\n0\n");
	ASSERT_INT(process_lower_limits(unknown, ARRAY_SIZE(unknown)), -1);
	ASSERT_INT(errno, EINVAL);
}

TEST(a_program_that_reads_a_node_gets_a_limit_of_memory)
{
	cleanup_with(strbuf_release) struct strbuf output = STRBUF_INIT;
	const struct process_options options = { .memory_most = 64 << 20 };

	ASSERT_INT(process_capture(ARGV("sh", "-c", "ulimit -Hd; ulimit -Hc"), &options, &output,
				   NULL),
		   0);
	ASSERT_STR(output.text, "65536\n0\n");
}

TEST(a_program_that_is_not_started_in_time_is_given_up)
{
	int report[2];
	pid_t pid;

	ASSERT_INT(pipe(report), 0);
	pid = fork();
	if (pid == 0) {
		(void)raise(SIGSTOP);
		_exit(0);
	}
	(void)close(report[1]);
	ASSERT_INT(process_await_exec(pid, report[0], 100), ETIMEDOUT);
	ASSERT_INT(kill(pid, 0), -1);
}
