/*
 * Running a program in a node as if it ran here.
 *
 * With a terminal, the program gets a pseudo-terminal of the node, and we relay: so the node never
 * has a descriptor of the host's terminal, to which it could send input.
 */

#include "cli/terminal.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/loop.h"

struct relay {
	struct loop *loop;
	struct loop_source *input;
	int pty;
	int signal; /* that terminated us, or 0 */
};

static void copy_size(int pty)
{
	struct winsize size;

	if (ioctl(STDIN_FILENO, TIOCGWINSZ, &size) == 0)
		(void)ioctl(pty, TIOCSWINSZ, &size);
}

static int on_resize(arg_unused int signal, void *data, arg_unused struct error *err)
{
	struct relay *relay = data;

	copy_size(relay->pty);
	return 0;
}

static int on_key(arg_unused int fd, arg_unused uint32_t events, void *data,
		  arg_unused struct error *err)
{
	struct relay *relay = data;
	char buffer[4096];
	ssize_t len = read(STDIN_FILENO, buffer, sizeof(buffer));

	if (len > 0 && file_write_all(relay->pty, buffer, (size_t)len) == 0)
		return 0;
	if (relay->input)
		loop_remove(take_ptr(relay->input));
	return 0;
}

/* Relay output from the node's side; false at its end. */
static bool pass_output(struct relay *relay)
{
	char buffer[16384];
	ssize_t len = read(relay->pty, buffer, sizeof(buffer));

	if (len > 0)
		return file_write_all(STDOUT_FILENO, buffer, (size_t)len) == 0;
	return len < 0 && (errno == EINTR || errno == EAGAIN);
}

static int on_output(arg_unused int fd, arg_unused uint32_t events, void *data,
		     arg_unused struct error *err)
{
	struct relay *relay = data;

	/* EIO: the last program has closed its side. */
	if (!pass_output(relay))
		loop_stop(relay->loop);
	return 0;
}

/* We are terminated by a signal, or the terminal is gone: clean up, then exit as if by that
 * signal. */
static int on_signal(int signal, void *data, arg_unused struct error *err)
{
	struct relay *relay = data;

	relay->signal = signal;
	loop_stop(relay->loop);
	return 0;
}

/* Returns the signal that terminated us, or 0. */
static int relay_terminal(int pty, struct error *err)
{
	static const int signals[] = { SIGTERM, SIGHUP, SIGINT };
	cleanup_with(loop_freep) struct loop *loop = NULL;
	struct loop_source *output = NULL;
	struct loop_source *resize = NULL;
	struct loop_source *end = NULL;
	struct relay relay = { .pty = pty };
	int r = loop_new(&loop, err);

	relay.loop = loop;
	if (r == 0)
		r = loop_add_fd(loop, STDIN_FILENO, EPOLLIN, on_key, &relay, &relay.input, err);
	if (r == 0)
		r = loop_add_fd(loop, pty, EPOLLIN, on_output, &relay, &output, err);
	if (r == 0)
		r = loop_add_signal(loop, SIGWINCH, on_resize, &relay, &resize, err);
	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(signals); i++)
		r = loop_add_signal(loop, signals[i], on_signal, &relay, &end, err);
	if (r == 0)
		r = loop_run(loop, err);
	return r < 0 ? r : relay.signal;
}

static int spawn_on_terminal(const struct node_driver *driver, const struct node_spec *spec,
			     char *const *argv, const struct process_options *options,
			     struct process *ret_process, struct error *err)
{
	int r = driver->spawn(spec, argv, options, ret_process, err);

	if (r == -ENOENT)
		return error_reason(err, r, &reason_command_missing);
	if (r == -EACCES || r == -ENOEXEC)
		return error_reason(err, r, &reason_command_refused);
	return r;
}

static int run_on_pty(const struct node_driver *driver, const struct node_spec *spec,
		      char *const *argv, struct error *err)
{
	cleanup_with(process_release) struct process process = PROCESS_INIT;
	struct process_options options = { .new_session = true };
	struct termios saved;
	struct termios raw;
	cleanup_fd int ours = -1;
	cleanup_fd int theirs = -1;
	int r;

	if (tcgetattr(STDIN_FILENO, &saved) < 0)
		return error_sys(err, "cannot read the terminal's settings");
	r = driver->open_terminal(spec, &ours, &theirs, err);
	if (r < 0)
		return r;
	/* Before the program reads the size. */
	copy_size(ours);
	options.stdin_fd = theirs;
	options.stdout_fd = theirs;
	options.stderr_fd = theirs;
	r = spawn_on_terminal(driver, spec, argv, &options, &process, err);
	if (r < 0)
		return r;
	(void)close(take_fd(theirs));
	raw = saved;
	cfmakeraw(&raw);
	(void)tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
	r = relay_terminal(ours, err);
	(void)tcsetattr(STDIN_FILENO, TCSADRAIN, &saved);
	if (r > 0)
		return 128 + r;
	return r < 0 ? r : process_wait(&process, 0, err);
}

int terminal_run(const struct node_driver *driver, const struct node_spec *spec, char *const *argv,
		 struct error *err)
{
	cleanup_with(process_release) struct process process = PROCESS_INIT;
	int r;

	if (isatty(STDIN_FILENO) && isatty(STDOUT_FILENO))
		return run_on_pty(driver, spec, argv, err);
	r = spawn_on_terminal(driver, spec, argv, NULL, &process, err);
	return r < 0 ? r : process_wait(&process, 0, err);
}
