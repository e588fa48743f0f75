/* Making, mapping and entering namespaces. */

#include "host/namespace.h"

#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <linux/keyctl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "cgroup/cgroup.h"
#include "host/confine.h"
#include "host/relay.h"

#define ALL_NAMESPACES                                                                             \
	(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWUTS | CLONE_NEWIPC | \
	 CLONE_NEWCGROUP)

#define NODE_PATH                                                             \
	"PATH=/opt/manykube/bin:/opt/cni/bin:/usr/local/sbin:/usr/local/bin:" \
	"/usr/sbin:/usr/bin:/sbin:/bin"

/* How long namespace_call() waits. */
#define CALL_MS 10000

/* How long a program may take to start: node root can freeze it before that. */
#define START_MS 15000

static int write_map(pid_t pid, const char *file, const char *map, struct error *err)
{
	cleanup_free char *path = xasprintf("/proc/%d/%s", (int)pid, file);

	return file_poke(path, map, err);
}

int namespace_new_user(uid_t uid_base, int *ret_fd, struct error *err)
{
	cleanup_free char *map = xasprintf("0 %u %u", uid_base, NAMESPACE_IDS);

	return namespace_new_mapped_user(uid_base, map, map, ret_fd, err);
}

int namespace_new_mapped_user(uid_t uid_base, const char *uid_map, const char *gid_map, int *ret_fd,
			      struct error *err)
{
	cleanup_free char *path = NULL;
	cleanup_fd int fd = -1;
	pid_t maker = getpid();
	int ready[2];
	pid_t pid;
	char byte;
	int r;

	if (pipe2(ready, O_CLOEXEC) < 0)
		return error_sys(err, "cannot make a pipe");
	pid = fork();
	if (pid < 0) {
		r = error_sys(err, "cannot start a process");
		(void)close(ready[0]);
		(void)close(ready[1]);
		return r;
	}
	if (pid == 0) {
		/*
		 * The namespace counts against the limits of the uid that makes it.  Making it as
		 * the node's own uid gives each node its own per-user limits (inotify).
		 */
		if (setresgid(-1, uid_base, -1) < 0 || setresuid(-1, uid_base, -1) < 0 ||
		    unshare(CLONE_NEWUSER) < 0)
			_exit(errno);
		/* Set after the change of ids, which clears it.  If the parent ended before that,
		 * exit. */
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != maker)
			_exit(ESRCH);
		(void)!write(ready[1], "x", 1);
		for (;;)
			(void)pause();
	}
	(void)close(ready[1]);
	r = read(ready[0], &byte, 1) == 1 ? 0 : -1;
	(void)close(ready[0]);
	if (r < 0) {
		int status;

		(void)waitpid(pid, &status, 0);
		errno = WIFEXITED(status) && WEXITSTATUS(status) ? WEXITSTATUS(status) : EIO;
		r = error_sys(err, "cannot make a user namespace");
		return error_hint(
			err, error_reason(err, r, &reason_host_unsupported),
			"allow user namespaces: sysctl -w user.max_user_namespaces=15000");
	}
	r = write_map(pid, "uid_map", uid_map, err);
	if (r == 0)
		r = write_map(pid, "gid_map", gid_map, err);
	path = xasprintf("/proc/%d/ns/user", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (r == 0 && fd < 0)
		r = error_sys(err, "cannot open the user namespace");
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
	if (r == 0)
		*ret_fd = take_fd(fd);
	return r;
}

/* Map PATH in the directory DIR, or DIR itself if PATH is ""; errors call it SHOWN. */
static int map_at(int dir, const char *path, const char *shown, int userns_fd, bool read_only,
		  int *ret_fd, struct error *err)
{
	struct mount_attr attr = {
		.attr_set = MOUNT_ATTR_IDMAP | (read_only ? MOUNT_ATTR_RDONLY : 0),
		.userns_fd = (unsigned)userns_fd,
		.propagation = MS_PRIVATE,
	};
	cleanup_fd int fd = open_tree(dir, path,
				      OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH);

	if (fd < 0)
		return error_sys(err, "cannot open '%s' as a mount", shown);
	if (mount_setattr(fd, "", AT_EMPTY_PATH, &attr, sizeof(attr)) < 0) {
		int r = error_sys(err, "cannot map the owners of '%s' into the node", shown);

		return error_hint(err, error_reason(err, r, &reason_host_unsupported),
				  "nodes need a kernel of 5.19 or later and a file system that "
				  "supports idmapped mounts (ext4, xfs, btrfs)");
	}
	*ret_fd = take_fd(fd);
	return 0;
}

int namespace_map_tree(const char *path, int userns_fd, bool read_only, int *ret_fd,
		       struct error *err)
{
	return map_at(AT_FDCWD, path, path, userns_fd, read_only, ret_fd, err);
}

int namespace_map_opened(int fd, const char *shown, int userns_fd, bool read_only, int *ret_fd,
			 struct error *err)
{
	return map_at(fd, "", shown, userns_fd, read_only, ret_fd, err);
}

/* Enter all namespaces of PID as their root.  Only for a child process made for this. */
static int enter_namespaces(pid_t pid, struct error *err)
{
	cleanup_fd int fd = pidfd_open(pid, 0);

	if (fd < 0)
		return error_sys(err, "cannot open process %d", (int)pid);
	if (setns(fd, ALL_NAMESPACES) < 0)
		return error_sys(err, "cannot enter the node's namespaces");
	if (setgroups(0, NULL) < 0 || setresgid(0, 0, 0) < 0 || setresuid(0, 0, 0) < 0)
		return error_sys(err, "cannot become the node's root");
	return 0;
}

static void close_all_but(const int *fds, size_t count)
{
	int most = -1;

	for (size_t i = 0; i < count; i++)
		most = MAX(most, fds[i]);
	for (int fd = 0; fd < most; fd++) {
		bool kept = false;

		for (size_t i = 0; i < count; i++)
			kept = kept || fds[i] == fd;
		if (!kept)
			(void)close(fd);
	}
	(void)close_range((unsigned)(most + 1), UINT_MAX, 0);
}

int namespace_start(pid_t pid, int (*work)(const void *arg), const void *arg, const int *fds,
		    size_t count, struct process *ret_process, struct error *err)
{
	cleanup_with(process_release) struct process child = PROCESS_INIT;
	int r;

	child.pid = fork();
	if (child.pid < 0)
		return error_sys(err, "cannot start a process");
	if (child.pid == 0) {
		close_all_but(fds, count);
		r = enter_namespaces(pid, NULL);
		/* Set after the change of ids, which clears it. */
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (r == 0)
			r = work(arg);
		_exit(MIN(-r, 255));
	}
	child.pidfd = pidfd_open(child.pid, 0);
	if (child.pidfd < 0)
		return error_sys(err, "cannot watch process %d", (int)child.pid);
	*ret_process = child;
	child = PROCESS_INIT;
	return 0;
}

int namespace_call(pid_t pid, int (*work)(const void *arg), const void *arg, const int *fds,
		   size_t count, struct error *err)
{
	cleanup_with(process_release) struct process child = PROCESS_INIT;
	int r = namespace_start(pid, work, arg, fds, count, &child, err);

	if (r < 0)
		return r;
	r = process_wait(&child, clock_now_ms() + CALL_MS, err);
	if (r == -ETIMEDOUT)
		return error_set(err, r, "the node did not answer within %d s", CALL_MS / 1000);
	return r > 0 ? error_set(err, -r, "%s", strerror(r)) : r;
}

int namespace_new_keyring(void)
{
	/* If the kernel has no keyrings or denies access, programs in nodes have none either. */
	if (syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL) < 0 && errno != ENOSYS &&
	    errno != EPERM)
		return -1;
	return 0;
}

/* In the process between us and the program: copy the program's streams, wait for it, and exit with
 * its status. */
static _Noreturn void attend(struct relay *relay, pid_t program)
{
	int status;

	if (relay_run(relay, program) < 0) {
		(void)kill(program, SIGKILL);
		_exit(128 + SIGKILL);
	}
	while (waitpid(program, &status, 0) < 0)
		if (errno != EINTR)
			_exit(127);
	_exit(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
}

/* Reset everything that the program would inherit from us: signals, umask, session. */
static void reset_inherited(void)
{
	sigset_t none;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	for (int i = 1; i < NSIG; i++)
		(void)signal(i, SIG_DFL);
	(void)umask(022);
	/* Detach from the host's terminal: the node's root could inject input into it. */
	(void)setsid();
}

static _Noreturn void run_program(char *const *argv, const struct process_options *options,
				  const struct relay *relay, const struct cgroup_door *group,
				  int report)
{
	cleanup_free char *terminal = xasprintf("TERM=%s", getenv("TERM") ?: "dumb");
	char *const environment[] = { NODE_PATH, "HOME=/root", "LANG=C.UTF-8", terminal, NULL };
	int problem;

	reset_inherited();
	if (cgroup_door_pass(group) < 0 || relay_become(relay) < 0 ||
	    chdir(options->dir ? options->dir : "/") < 0)
		goto failed;
	/* Make a terminal as input the controlling terminal, so that Ctrl-C reaches the program. */
	if (options->new_session && isatty(STDIN_FILENO))
		(void)ioctl(STDIN_FILENO, TIOCSCTTY, 0);
	/* execvpe() searches the PATH of this process, so set the node's. */
	(void)putenv(NODE_PATH);
	(void)execvpe(argv[0], argv, options->environment ? options->environment : environment);
failed:
	problem = errno;
	(void)!write(report, &problem, sizeof(problem));
	_exit(problem == ENOENT ? 127 : 126);
}

/*
 * In the first child: enter the namespaces and run the program in a second child, which is in the
 * node's pid namespace.  Until exec, the second child is a copy of this process, which the node's
 * root must not be able to read: it is not dumpable, and all descriptors except the program's are
 * close-on-exec.  The first child has no pid in the node and stays out of its control groups, in
 * which the node's root could freeze it forever.
 */
static _Noreturn void go_in(const struct namespace_target *target, char *const *argv,
			    const struct process_options *options, int report)
{
	struct cgroup_door group = CGROUP_DOOR_INIT;
	struct relay relay = RELAY_INIT;
	int problem;
	pid_t pid;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (relay_open(options, report, &relay) < 0 ||
	    (target->cgroup && cgroup_door_open(target->cgroup, target->leaf, &group, NULL) < 0) ||
	    namespace_new_keyring() < 0 || prctl(PR_SET_DUMPABLE, 0) < 0 ||
	    enter_namespaces(target->pid, NULL) < 0)
		goto failed;
	/* Set both again: changing ids cleared the signal and, with fs.suid_dumpable=1, this. */
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (prctl(PR_SET_DUMPABLE, 0) < 0 || confine() < 0)
		goto failed;
	pid = fork();
	if (pid < 0)
		goto failed;
	if (pid == 0)
		run_program(argv, options, &relay, &group, report);
	(void)close(report);
	cgroup_door_release(&group);
	attend(&relay, pid);
failed:
	problem = errno ? errno : EIO;
	(void)!write(report, &problem, sizeof(problem));
	_exit(126);
}

int namespace_spawn(const struct namespace_target *target, char *const *argv,
		    const struct process_options *options, struct process *ret_process,
		    struct error *err)
{
	struct process_options with_output = options ? *options : (struct process_options){ 0 };
	cleanup_fd int output = -1;
	cleanup_fd int report_read = -1;
	int report[2];
	pid_t pid;

	if (with_output.output) {
		output = open(with_output.output, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
		if (output < 0)
			return error_sys(err, "cannot open '%s'", with_output.output);
		with_output.stdout_fd = output;
		with_output.stderr_fd = output;
	}
	if (pipe2(report, O_CLOEXEC) < 0)
		return error_sys(err, "cannot make a pipe");
	report_read = report[0];
	pid = fork();
	if (pid < 0) {
		(void)close(report[1]);
		return error_sys(err, "cannot start '%s'", argv[0]);
	}
	if (pid == 0)
		go_in(target, argv, &with_output, report[1]);
	(void)close(report[1]);
	errno = process_await_exec(pid, report_read, START_MS);
	if (errno == ETIMEDOUT)
		return error_because(err, &reason_node_failed, -ETIMEDOUT,
				     "the node did not start '%s' in time", argv[0]);
	if (errno)
		return error_sys(err, "cannot run '%s' in the node", argv[0]);
	*ret_process = (struct process){ .pid = pid, .pidfd = pidfd_open(pid, 0) };
	if (ret_process->pidfd < 0)
		return error_sys(err, "cannot watch process %d", (int)pid);
	return 0;
}
