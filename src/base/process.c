/* Child processes: started from an argument vector, held by a pidfd. */

#include "base/process.h"

#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/parse.h"

char *process_find(const char *program)
{
	cleanup_with(strlist_release) struct strlist dirs = STRLIST_INIT;
	const char *path = getenv("PATH");
	const char *dir;

	if (strchr(program, '/'))
		return access(program, X_OK) == 0 ? xstrdup(program) : NULL;
	strlist_split(&dirs, path ? path : "", ':');
	/* Programs that nodes need are in sbin, which a user's PATH may lack. */
	strlist_split(&dirs, "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", ':');
	strlist_for_each(dir, &dirs) {
		char *candidate = xasprintf("%s/%s", dir, program);

		if (access(candidate, X_OK) == 0)
			return candidate;
		free(candidate);
	}
	return NULL;
}

#define CONFINED_CPU_SECONDS 3600

/* In the child: drop all rights, see `confined_uid`. */
static int drop_rights(uid_t uid)
{
	const struct rlimit cpu = { CONFINED_CPU_SECONDS, CONFINED_CPU_SECONDS };
	const struct rlimit none = { 0, 0 };

	return unshare(CLONE_NEWNET | CLONE_NEWIPC) < 0 || setrlimit(RLIMIT_CPU, &cpu) < 0 ||
			       setrlimit(RLIMIT_CORE, &none) < 0 || setgroups(0, NULL) < 0 ||
			       setresgid(uid, uid, uid) < 0 || setresuid(uid, uid, uid) < 0 ||
			       prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0
		       ? -1
		       : 0;
}

/* See `memory_most`. */
static int limit_memory(uint64_t most)
{
	const struct process_limit limits[] = { { RLIMIT_DATA, most }, { RLIMIT_CORE, 0 } };

	return process_lower_limits(limits, ARRAY_SIZE(limits));
}

/* Make all mounts read-only for this process, except its working directory. */
static int write_only_here(void)
{
	struct mount_attr read_only = { .attr_set = MOUNT_ATTR_RDONLY };
	int here;

	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return -1;
	here = open_tree(AT_FDCWD, ".", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
	if (here < 0 ||
	    mount_setattr(AT_FDCWD, "/", AT_RECURSIVE, &read_only, sizeof(read_only)) < 0 ||
	    move_mount(here, "", AT_FDCWD, ".", MOVE_MOUNT_F_EMPTY_PATH) < 0)
		return -1;
	return fchdir(here);
}

/* In the child, between fork and exec: only async-signal-safe calls. */
static _Noreturn void become(const char *program, char *const *argv,
			     const struct process_options *options, int output, int report)
{
	char *const *environment;
	sigset_t none;
	int problem;
	int in = options->stdin_fd;
	int opened = -1;

	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	(void)signal(SIGPIPE, SIG_DFL);
	(void)signal(SIGINT, SIG_DFL);
	if (options->new_session)
		(void)setsid();
	if (options->no_stdin)
		in = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if ((in > 0 && dup2(in, STDIN_FILENO) < 0) ||
	    (options->stdout_fd > 0 && dup2(options->stdout_fd, STDOUT_FILENO) < 0) ||
	    (options->stderr_fd > 0 && dup2(options->stderr_fd, STDERR_FILENO) < 0) ||
	    (output >= 0 && (dup2(output, STDOUT_FILENO) < 0 || dup2(output, STDERR_FILENO) < 0)) ||
	    (options->dir && chdir(options->dir) < 0) ||
	    (options->only_dir && write_only_here() < 0) ||
	    (options->user && user_become(options->user) < 0) ||
	    (options->memory_most > 0 && limit_memory(options->memory_most) < 0))
		goto failed;
	if (options->confined_uid > 0 && drop_rights(options->confined_uid) < 0)
		goto failed;
	if (options->enter) {
		opened = open(program, O_PATH | O_CLOEXEC);
		if (opened < 0 || options->enter(options->enter_arg) < 0)
			goto failed;
	}
	/* Changing ids clears the parent-death signal, so it is set last. */
	if (options->dies_with_us)
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	environment = options->environment    ? options->environment
		      : options->confined_uid ? (char *const[]){ NULL }
					      : environ;
	if (opened >= 0)
		(void)execveat(opened, "", argv, environment, AT_EMPTY_PATH);
	else
		(void)execve(program, argv, environment);
failed:
	problem = errno;
	(void)!write(report, &problem, sizeof(problem));
	_exit(127);
}

int process_spawn(char *const *argv, const struct process_options *options,
		  struct process *ret_process, struct error *err)
{
	static const struct process_options nothing;
	cleanup_free char *program = process_find(argv[0]);
	cleanup_fd int output = -1;
	cleanup_fd int report_read = -1;
	cleanup_fd int report_write = -1;
	int report[2];
	int problem;
	pid_t pid;

	if (!options)
		options = &nothing;
	if (!program)
		return error_set(err, -ENOENT, "there is no program '%s'", argv[0]);
	if (options->output) {
		output = open(options->output, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
		if (output < 0)
			return error_sys(err, "cannot open '%s'", options->output);
	}
	if (pipe2(report, O_CLOEXEC) < 0)
		return error_sys(err, "cannot make a pipe");
	report_read = report[0];
	report_write = report[1];

	pid = fork();
	if (pid < 0)
		return error_sys(err, "cannot start '%s'", argv[0]);
	if (pid == 0)
		become(program, argv, options, output, report_write);

	(void)close(take_fd(report_write));
	if (read(report_read, &problem, sizeof(problem)) == sizeof(problem)) {
		(void)waitpid(pid, NULL, 0);
		errno = problem;
		return error_sys(err, "cannot start '%s'", argv[0]);
	}
	log_debug("started process %d: %s", (int)pid, program);
	*ret_process = (struct process){ .pid = pid, .pidfd = pidfd_open(pid, 0) };
	if (ret_process->pidfd < 0) {
		int r = error_sys(err, "cannot watch process %d", (int)pid);

		process_release(ret_process);
		return r;
	}
	return 0;
}

int process_await_exec(pid_t pid, int report, unsigned timeout_ms)
{
	struct pollfd wait = { .fd = report, .events = POLLIN };
	int64_t deadline_ms = clock_now_ms() + timeout_ms;
	int problem = ETIMEDOUT;
	int n;

	do
		n = poll(&wait, 1, clock_left_ms(deadline_ms));
	while (n < 0 && errno == EINTR);
	if (n > 0 && read(report, &problem, sizeof(problem)) != sizeof(problem))
		return 0;
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
	return problem;
}

static int reap(struct process *process)
{
	int status = 0;

	while (waitpid(process->pid, &status, 0) < 0 && errno == EINTR)
		;
	if (process->pidfd >= 0)
		(void)close(process->pidfd);
	*process = PROCESS_INIT;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int process_wait(struct process *process, int64_t deadline_ms, struct error *err)
{
	struct pollfd end = { .fd = process->pidfd, .events = POLLIN };

	for (;;) {
		int n = poll(&end, 1, deadline_ms ? clock_left_ms(deadline_ms) : -1);

		if (n > 0)
			return reap(process);
		if (n == 0)
			return error_set(err, -ETIMEDOUT, "process %d did not end in time",
					 (int)process->pid);
		if (errno != EINTR)
			return error_sys(err, "cannot wait for process %d", (int)process->pid);
	}
}

void process_release(struct process *process)
{
	if (process->pid <= 0)
		return;
	(void)kill(process->pid, SIGKILL);
	(void)reap(process);
}

int process_run(char *const *argv, const struct process_options *options, struct error *err)
{
	cleanup_with(process_release) struct process process = PROCESS_INIT;
	int r = process_spawn(argv, options, &process, err);

	return r < 0 ? r : process_wait(&process, 0, err);
}

int process_capture(char *const *argv, const struct process_options *options, struct strbuf *output,
		    struct error *err)
{
	cleanup_with(process_release) struct process process = PROCESS_INIT;
	struct process_options with_pipe = options ? *options : (struct process_options){ 0 };
	cleanup_fd int from = -1;
	cleanup_fd int to = -1;
	int ends[2];
	int r;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return error_sys(err, "cannot make a pipe");
	from = ends[0];
	to = ends[1];
	with_pipe.stdout_fd = to;

	r = process_spawn(argv, &with_pipe, &process, err);
	if (r < 0)
		return r;
	(void)close(take_fd(to));
	r = file_read_fd(from, 16 << 20, output, err);
	if (r < 0)
		return error_prefix(err, r, "output of '%s'", argv[0]);
	return process_wait(&process, 0, err);
}

/* The fields of /proc/PID/stat from the third on, which is the state; false if there is none. */
static bool read_stat(pid_t pid, struct strlist *ret_fields)
{
	cleanup_with(strbuf_release) struct strbuf stat = STRBUF_INIT;
	cleanup_free char *path = xasprintf("/proc/%d/stat", (int)pid);
	const char *rest;

	if (file_read(path, 4096, &stat, NULL) < 0)
		return false;
	/* The second field is the name in parentheses, which may itself contain ')'. */
	rest = strrchr(stat.text, ')');
	if (rest)
		strlist_split(ret_fields, rest + 1, ' ');
	return ret_fields->count >= 21;
}

uint64_t process_start_time(pid_t pid)
{
	cleanup_with(strlist_release) struct strlist fields = STRLIST_INIT;
	unsigned long long ticks;

	/*
	 * A zombie does not run, and neither does a process without memory, which is ending: PID 1
	 * of a node is in that state until its children are gone.  Kernel threads have no memory
	 * either, but are never looked up here.
	 */
	if (!read_stat(pid, &fields) || fields.items[0][0] == 'Z' || fields.items[0][0] == 'X' ||
	    strcmp(fields.items[20], "0") == 0)
		return 0;
	if (parse_number(fields.items[19], 0, ULLONG_MAX, &ticks, NULL) < 0)
		return 0;
	return ticks;
}

bool process_is_halted(pid_t pid)
{
	cleanup_with(strlist_release) struct strlist fields = STRLIST_INIT;

	return read_stat(pid, &fields) && strchr("Tt", fields.items[0][0]);
}

bool process_is(pid_t pid, uint64_t start_time)
{
	return pid > 0 && start_time > 0 && process_start_time(pid) == start_time;
}

int process_lower_limits(const struct process_limit *limits, size_t count)
{
	int failed = 0;

	for (size_t i = 0; i < count; i++) {
		struct rlimit limit;

		if (getrlimit(limits[i].resource, &limit) == 0) {
			limit.rlim_max = MIN(limit.rlim_max, limits[i].most);
			limit.rlim_cur = MIN(limit.rlim_cur, limit.rlim_max);
			if (setrlimit(limits[i].resource, &limit) == 0)
				continue;
		}
		failed = errno;
	}
	errno = failed;
	return failed ? -1 : 0;
}
