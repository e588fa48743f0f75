#include "cli/terminal.h"

#include <limits.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/pidfd.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/strbuf.h"
#include "test.h"

/* A node that is this host, with a pseudo-terminal for every program. */
static int open_here(arg_unused const struct node_spec *spec, int *ret_ours, int *ret_theirs,
		     arg_unused struct error *err)
{
	return openpty(ret_ours, ret_theirs, NULL, NULL, NULL);
}

static int spawn_here(arg_unused const struct node_spec *spec, char *const *argv,
		      const struct process_options *options, struct process *ret_process,
		      arg_unused struct error *err)
{
	struct winsize size;
	sigset_t none;
	pid_t pid;

	if (ioctl(options->stdin_fd, TIOCGWINSZ, &size) < 0 || size.ws_row != 33)
		return -ERANGE;
	pid = fork();
	ASSERT(pid >= 0);
	if (pid == 0) {
		/* As in a node, the terminal is the program's own. */
		(void)sigemptyset(&none);
		(void)sigprocmask(SIG_SETMASK, &none, NULL);
		(void)setsid();
		for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
			(void)dup2(options->stdin_fd, fd);
		(void)ioctl(STDIN_FILENO, TIOCSCTTY, 0);
		(void)close_range(STDERR_FILENO + 1, UINT_MAX, 0);
		(void)execvp(argv[0], argv);
		_exit(127);
	}
	*ret_process = (struct process){ .pid = pid, .pidfd = pidfd_open(pid, 0) };
	return 0;
}

static const struct node_driver here = { .name = "here",
					 .spawn = spawn_here,
					 .open_terminal = open_here };

struct session {
	pid_t pid;
	int fd;
};

/* Run SCRIPT on the node from a terminal of 33 lines of 77 columns. */
static struct session begin(char *script)
{
	const struct winsize size = { .ws_row = 33, .ws_col = 77 };
	const struct node_spec spec = { .name = "here" };
	struct session session;

	session.pid = forkpty(&session.fd, NULL, NULL, &size);
	ASSERT(session.pid >= 0);
	if (session.pid == 0)
		_exit(terminal_run(&here, &spec, ARGV("sh", "-c", script), NULL));
	return session;
}

/* Wait until the session has printed WORDS. */
static void expect(const struct session *session, const char *words)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	int64_t deadline = clock_now_ms() + 20000;
	struct pollfd ready = { .fd = session->fd, .events = POLLIN };

	while (!strstr(text.text, words)) {
		char buffer[512];
		ssize_t len = -1;

		if (poll(&ready, 1, clock_left_ms(deadline)) > 0)
			len = read(session->fd, buffer, sizeof(buffer));
		if (len <= 0)
			test_fail(__FILE__, __LINE__, "no '%s' but '%s'", words, text.text);
		strbuf_add_mem(&text, buffer, (size_t)len);
	}
}

static int end(const struct session *session)
{
	char buffer[512];
	int status;

	while (read(session->fd, buffer, sizeof(buffer)) > 0)
		;
	ASSERT_INT(waitpid(session->pid, &status, 0), session->pid);
	ASSERT(WIFEXITED(status));
	return WEXITSTATUS(status);
}

TEST(the_size_and_its_change_pass)
{
	struct session session = begin("while :; do stty size; sleep 0.05; done");
	struct winsize larger = { .ws_row = 41, .ws_col = 99 };

	expect(&session, "33 77");
	ASSERT_INT(ioctl(session.fd, TIOCSWINSZ, &larger), 0);
	expect(&session, "41 99");
	ASSERT_INT(write(session.fd, "\003", 1), 1);
	(void)end(&session);
}

TEST(the_size_is_there_before_the_program)
{
	struct session session = begin("exit 0");

	ASSERT_INT(end(&session), 0);
}

TEST(the_interrupt_key_reaches_the_program_and_not_us)
{
	struct session session = begin("trap 'echo caught; exit 9' INT; echo ready; "
				       "while :; do sleep 0.05; done");

	expect(&session, "ready");
	ASSERT_INT(write(session.fd, "\003", 1), 1);
	expect(&session, "caught");
	ASSERT_INT(end(&session), 9);
}

TEST(what_is_typed_arrives)
{
	struct session session = begin("read -r line; echo \"[$line]\"");

	ASSERT_INT(write(session.fd, "words\n", 6), 6);
	expect(&session, "[words]");
	ASSERT_INT(end(&session), 0);
}

TEST(the_exit_status_passes)
{
	struct session session = begin("exit 5");

	ASSERT_INT(end(&session), 5);
	session = begin("kill -KILL $$");
	ASSERT_INT(end(&session), 128 + SIGKILL);
}
