#include "host/relay.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#include "base/file.h"
#include "test.h"

/* How the attendant of a program exits that was silent for too long. */
#define SILENT 99

/* In a child: run SCRIPT as a program of a node, with OPTIONS. */
static pid_t run(const struct process_options *options, const char *script, bool sets_flags)
{
	pid_t attendant = fork();
	struct relay relay;
	pid_t pid;

	if (attendant != 0)
		return attendant;
	if (relay_open(options, -1, &relay) < 0)
		_exit(1);
	pid = fork();
	if (pid == 0) {
		(void)relay_become(&relay);
		for (int fd = 0; fd < 3; fd++)
			if (sets_flags)
				(void)fcntl(fd, F_SETFL, O_NONBLOCK);
		(void)execl("/bin/sh", "sh", "-c", script, NULL);
		_exit(127);
	}
	if (relay_run(&relay, pid) == 0)
		_exit(0);
	(void)kill(pid, SIGKILL);
	_exit(SILENT);
}

static void wait_for(pid_t pid)
{
	int status = -1;

	ASSERT_INT(waitpid(pid, &status, 0), pid);
	ASSERT_INT(status, 0);
}

TEST(a_program_does_not_change_the_flags_of_our_pipes)
{
	int in[2], out[2];
	char got[16] = "";
	struct process_options options = { 0 };

	ASSERT(pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0);
	options.stdin_fd = in[0];
	options.stdout_fd = out[1];
	options.stderr_fd = out[1];
	ASSERT_INT(write(in[1], "text", 4), 4);
	/* Nobody else is left that writes, or reads. */
	ASSERT_INT(close(in[1]), 0);
	wait_for(run(&options, "exec cat", true));
	ASSERT_INT(fcntl(in[0], F_GETFL) & O_NONBLOCK, 0);
	ASSERT_INT(fcntl(out[1], F_GETFL) & O_NONBLOCK, 0);
	ASSERT_INT(read(out[0], got, sizeof(got)), 4);
	ASSERT_STR(got, "text");
}

TEST(a_pipe_that_nobody_reads_ends_the_program)
{
	struct process_options options = { .no_stdin = true };
	int out[2];

	ASSERT_INT(pipe2(out, O_CLOEXEC), 0);
	ASSERT_INT(close(out[0]), 0);
	options.stdout_fd = out[1];
	wait_for(run(&options, "exec cat /dev/zero", false));
}

TEST(output_beyond_its_limit_is_dropped_or_ends_the_program)
{
	cleanup_free char *path = xasprintf("%s/output", test_dir());
	cleanup_fd int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	struct process_options options = { .no_stdin = true, .stdout_most = 100000 };

	options.stdout_fd = file;
	wait_for(run(&options, "head -c 1000000 /dev/zero", false));
	ASSERT_INT(lseek(file, 0, SEEK_END), 100000);
	ASSERT_INT(ftruncate(file, 0), 0);
	ASSERT_INT(lseek(file, 0, SEEK_SET), 0);
	options.stdout_stops = true;
	wait_for(run(&options, "exec cat /dev/zero", false));
	ASSERT_INT(lseek(file, 0, SEEK_END), 100000);
}

TEST(what_a_program_leaves_behind_keeps_no_output_open)
{
	static const char *const scripts[] = { "sleep 10 & echo end", "cat /dev/zero & sleep 0.1" };
	int file = open("/dev/null", O_WRONLY | O_CLOEXEC);
	char block[65536];

	for (size_t i = 0; i < ARRAY_SIZE(scripts); i++) {
		struct process_options options = { .no_stdin = true, .stdout_stops = true };
		struct pollfd wait = { .events = POLLIN };
		pid_t pid;
		int out[2];

		ASSERT_INT(pipe2(out, O_CLOEXEC), 0);
		options.stdout_fd = out[1];
		options.stderr_fd = file;
		pid = run(&options, scripts[i], false);
		(void)close(out[1]);
		for (wait.fd = out[0]; poll(&wait, 1, 5000) > 0;)
			if (read(out[0], block, sizeof(block)) <= 0)
				break;
		ASSERT(wait.revents);
		wait_for(pid);
	}
}

TEST(a_program_that_sends_no_output_is_given_up)
{
	cleanup_free char *path = xasprintf("%s/said", test_dir());
	struct process_options options = { .no_stdin = true, .stdout_stops = true };
	struct strbuf said = STRBUF_INIT;
	int status = -1;
	int out[2];
	pid_t pid;

	relay_silence_ms = 300;
	ASSERT(pipe2(out, O_CLOEXEC) == 0);
	options.stdout_fd = out[1];
	options.stderr_fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	/* Errors are no output. */
	pid = run(&options, "echo a; while echo b >&2; do sleep 0.05; done", false);
	ASSERT_INT(waitpid(pid, &status, 0), pid);
	ASSERT(WIFEXITED(status) && WEXITSTATUS(status) == SILENT);
	ASSERT_OK(file_read(path, 65536, &said, &err));
	ASSERT(strstr(said.text, "\nit has sent nothing for"));
	strbuf_release(&said);
	/* One that goes on sending is not, however long it takes. */
	relay_silence_ms = 2000;
	pid = run(&options, "for i in 1 2 3 4 5 6; do echo $i; sleep 0.5; done", false);
	wait_for(pid);
}
