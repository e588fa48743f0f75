/* Work in child processes. */

#include "base/jobs.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"

#define REPORT_SIZE 2048

static _Noreturn void do_job(int (*work)(const void *arg, struct error *err), const void *arg,
			     pid_t parent, int report)
{
	struct error err = ERROR_INIT;
	int r;

	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent)
		_exit(1);
	r = work(arg, &err);
	/* Short enough for the pipe, so this never blocks. */
	if (r < 0 && err.text)
		(void)!write(report, err.text, MIN(strlen(err.text), (size_t)REPORT_SIZE - 1));
	_exit(r < 0);
}

int job_begin(int (*work)(const void *arg, struct error *err), const void *arg, struct job *ret,
	      struct error *err)
{
	cleanup_fd int report_read = -1;
	cleanup_fd int report_write = -1;
	pid_t parent = getpid();
	int report[2];
	pid_t pid;

	if (pipe2(report, O_CLOEXEC) < 0)
		return error_sys(err, "cannot create a pipe");
	report_read = report[0];
	report_write = report[1];
	pid = fork();
	if (pid < 0)
		return error_sys(err, "cannot start a process");
	if (pid == 0)
		do_job(work, arg, parent, report_write);
	*ret = (struct job){ .pid = pid, .report = take_fd(report_read) };
	return 0;
}

int job_end(struct job *job, struct error *err)
{
	cleanup_fd int report = take_fd(job->report);
	char text[REPORT_SIZE];
	ssize_t len = read(report, text, sizeof(text) - 1);
	int status = 0;

	while (waitpid(job->pid, &status, 0) < 0 && errno == EINTR)
		;
	*job = JOB_INIT;
	if (status == 0)
		return 0;
	text[MAX(len, (ssize_t)0)] = '\0';
	return error_set(err, -EIO, "%s", *text ? text : "a process ended unexpectedly");
}
