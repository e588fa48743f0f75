/* The process that ends failures: starting and ending it. */

#include "fail/timer.h"

#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/pidfd.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "base/process.h"
#include "cgroup/scope.h"
#include "fail/failure.h"

#define END_MS 3000

static char *lock_of(const struct profile *profile)
{
	return xasprintf("%s/fail-timer.lock", profile->dir);
}

int fail_timer_lock(const struct profile *profile, int *ret_fd, struct error *err)
{
	cleanup_free char *lock = lock_of(profile);

	return file_lock_private(lock, "fail-timer", 0, ret_fd, err);
}

int64_t fail_timer_next(const struct profile *profile)
{
	cleanup_with(failures_release) struct failures all = FAILURES_INIT;
	const struct failure *failure;
	int64_t next = 0;

	failures_read(profile, &all);
	failures_for_each(failure, &all)
		if (failure->until && (!next || failure->until < next))
			next = failure->until;
	return next;
}

/* End the process PID, which only waits. */
static int end(const char *lock, pid_t pid, struct error *err)
{
	cleanup_fd int pidfd = pidfd_open(pid, 0);
	struct pollfd ended = { .fd = pidfd, .events = POLLIN };

	/* The pid may have been reused before we opened it: check the lock again. */
	if (pidfd < 0 || file_lock_holder(lock) != pid)
		return 0;
	if (pidfd_send_signal(pidfd, SIGKILL, NULL, 0) < 0 && errno != ESRCH)
		return error_sys(err, "cannot end the timer of failures, process %d", (int)pid);
	if (poll(&ended, 1, END_MS) <= 0)
		return error_set(err, -ETIMEDOUT, "the timer of failures, process %d, does not end",
				 (int)pid);
	return 0;
}

static int spawn(const struct profile *profile, struct error *err)
{
	cleanup_free char *log = xasprintf("%s/fail-timer.log", profile->dir);
	const struct process_options options = {
		.dir = "/", .output = log, .no_stdin = true, .new_session = true
	};
	struct process process = PROCESS_INIT;
	cleanup_free char *program = path_itself();
	cleanup_free char *name = xstrdup(profile->name);
	int r = process_spawn(ARGV(program, (char[]){ "fail-timer" }, (char[]){ "-p" }, name),
			      &options, &process, err);

	if (r < 0)
		return error_prefix(err, r, "cannot start the timer of failures");
	/* It outlives us; init reaps it. */
	(void)close(process.pidfd);
	return scope_adopt(profile->bridge, profile->name, "front-door", process.pid, err);
}

int fail_timer_run(const struct profile *profile, bool wanted, struct error *err)
{
	cleanup_free char *lock = lock_of(profile);
	pid_t pid = file_lock_holder(lock);
	int r;

	if (pid == getpid())
		return 0;
	r = pid > 0 ? end(lock, pid, err) : 0;
	return r < 0 || !wanted ? r : spawn(profile, err);
}
