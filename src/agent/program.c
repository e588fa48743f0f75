/* A program that runs for the host. */

#include "agent/program.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

struct streams {
	int theirs[3];
	int ours[3];
};

static int open_pipes(struct streams *streams)
{
	for (int i = 0; i < 3; i++) {
		int ends[2];

		if (pipe2(ends, O_CLOEXEC) < 0)
			return -1;
		streams->theirs[i] = ends[i != 0];
		streams->ours[i] = ends[i == 0];
		(void)fcntl(streams->ours[i], F_SETFL, O_NONBLOCK);
	}
	return 0;
}

static int open_terminal(struct streams *streams)
{
	int unlocked = 0;
	int ours = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
	int theirs;

	if (ours < 0)
		return -1;
	streams->ours[0] = ours;
	streams->ours[1] = ours;
	if (ioctl(ours, TIOCSPTLCK, &unlocked) < 0)
		return -1;
	theirs = ioctl(ours, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (theirs < 0)
		return -1;
	for (int i = 0; i < 3; i++)
		streams->theirs[i] = theirs;
	return 0;
}

static _Noreturn void become(const struct frame_open *request, const struct streams *streams,
			     int report)
{
	sigset_t none;
	int problem;

	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	for (int i = 1; i < NSIG; i++)
		(void)signal(i, SIG_DFL);
	(void)umask(022);
	(void)setsid();
	for (int i = 0; i < 3; i++)
		if (dup2(streams->theirs[i], i) < 0)
			goto failed;
	if (request->terminal)
		(void)ioctl(STDIN_FILENO, TIOCSCTTY, 0);
	if (chdir(request->dir) < 0)
		goto failed;
	for (const char *const *variable = request->variables; *variable; variable++)
		if (strncmp(*variable, "PATH=", 5) == 0)
			(void)putenv((char *)(uintptr_t)*variable);
	(void)execvpe(request->words[0], (char *const *)(uintptr_t)request->words,
		      (char *const *)(uintptr_t)request->variables);
failed:
	problem = errno;
	(void)!write(report, &problem, sizeof(problem));
	_exit(127);
}

static void close_all(const int *fds)
{
	for (int i = 0; i < 3; i++)
		if (fds[i] >= 0 && (i == 0 || fds[i] != fds[i - 1]))
			(void)close(fds[i]);
}

/* Wait until the child has executed its program; returns 0 or an errno. */
static int read_report(int fd, pid_t pid)
{
	int problem;

	if (read(fd, &problem, sizeof(problem)) != (ssize_t)sizeof(problem))
		return 0;
	(void)waitpid(pid, NULL, 0);
	return problem;
}

int program_start(const struct frame_open *request, struct program *ret)
{
	struct streams streams = { { -1, -1, -1 }, { -1, -1, -1 } };
	int report[2];
	int problem = 0;
	pid_t pid = -1;

	if ((request->terminal ? open_terminal(&streams) : open_pipes(&streams)) < 0 ||
	    pipe2(report, O_CLOEXEC) < 0) {
		problem = errno;
		close_all(streams.theirs);
		close_all(streams.ours);
		return problem;
	}
	*ret = (struct program){ .terminal = request->terminal,
				 .input = streams.ours[0],
				 .outputs = { streams.ours[1], streams.ours[2] } };
	program_resize(ret, request->rows, request->columns);
	pid = fork();
	if (pid == 0)
		become(request, &streams, report[1]);
	problem = pid < 0 ? errno : 0;
	close_all(streams.theirs);
	(void)close(report[1]);
	if (pid > 0)
		problem = read_report(report[0], pid);
	(void)close(report[0]);
	if (problem)
		close_all(streams.ours);
	ret->pid = pid;
	ret->group = pid;
	return problem;
}

void program_resize(const struct program *program, uint16_t rows, uint16_t columns)
{
	const struct winsize size = { .ws_row = rows, .ws_col = columns };

	if (program->terminal && program->input >= 0)
		(void)ioctl(program->input, TIOCSWINSZ, &size);
}

void program_end(struct program *program)
{
	if (program->pid > 0)
		(void)kill(-program->group, SIGKILL);
	if (program->input >= 0 && program->input != program->outputs[0])
		(void)close(program->input);
	for (int i = 0; i < 2; i++)
		if (program->outputs[i] >= 0)
			(void)close(program->outputs[i]);
}
