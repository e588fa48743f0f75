/* Starting, checking and stopping a cluster's front door. */

#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/pidfd.h>

#include "balancer/balancer.h"
#include "balancer/files.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/parse.h"
#include "base/path.h"
#include "base/process.h"

static const int start_limit_ms = 5000;
static const int stop_limit_ms = 3000;

/* Longer than a keeper waits before it starts another worker, also on a busy host. */
static const int answer_limit_ms = 8000;
static const unsigned poll_ms = 5;
static const off_t log_most_bytes = 5 << 20;

static char *file_of(const char *dir, const char *name)
{
	return xasprintf("%s/%s", dir, name);
}

/* Whether PID is ending: a killed process releases its memory, and with it /proc/PID/exe, before
 * its locks. */
static bool is_ending(pid_t pid)
{
	cleanup_free char *path = xasprintf("/proc/%d/exe", (int)pid);
	char program[1];

	return readlink(path, program, sizeof(program)) < 0 && errno == ENOENT;
}

pid_t balancer_pid(const char *dir)
{
	cleanup_free char *lock = file_of(dir, FRONT_DOOR_LOCK);
	pid_t pid = file_lock_holder(lock);

	return pid > 0 && is_ending(pid) ? 0 : pid;
}

/* The pid of a child of the keeper, which the status file calls KEY. */
static pid_t child_pid(const char *dir, const char *key)
{
	cleanup_free char *path = file_of(dir, FRONT_DOOR_STATUS);
	json_auto_t *status = json_load_file(path, 0, NULL);
	json_int_t pid = json_integer_value(json_object_get(status, key));

	return pid > 0 && pid <= INT_MAX && balancer_pid(dir) > 0 ? (pid_t)pid : 0;
}

pid_t balancer_worker_pid(const char *dir)
{
	return child_pid(dir, "worker");
}

pid_t balancer_registry_pid(const char *dir)
{
	return child_pid(dir, "registry");
}

pid_t balancer_watcher_pid(const char *dir)
{
	return child_pid(dir, "watcher");
}

bool balancer_holds_for_registry(const char *dir, const char *address, unsigned port)
{
	cleanup_free char *path = file_of(dir, FRONT_DOOR_STATUS);
	cleanup_free char *wanted = xasprintf("%s:%u", address, port);
	json_auto_t *status = json_load_file(path, 0, NULL);
	const json_t *held = json_object_get(status, "registryListens");
	json_int_t keeper = json_integer_value(json_object_get(status, "pid"));
	size_t i = 0;

	while (i < json_array_size(held) &&
	       strcmp(json_string_value(json_array_get(held, i)) ?: "", wanted) != 0)
		i++;
	return i < json_array_size(held) && keeper > 0 && balancer_pid(dir) == keeper;
}

unsigned balancer_registry_port(const char *dir)
{
	cleanup_free char *path = file_of(dir, FRONT_DOOR_STATUS);
	json_auto_t *status = json_load_file(path, 0, NULL);
	const json_t *held = json_object_get(status, "registryListens");
	json_int_t keeper = json_integer_value(json_object_get(status, "pid"));
	const char *address = json_string_value(json_array_get(held, 0));
	const char *colon = address ? strrchr(address, ':') : NULL;
	unsigned long long port;

	if (!colon || keeper <= 0 || balancer_pid(dir) != keeper ||
	    parse_number(colon + 1, 1, 65535, &port, NULL) < 0)
		return 0;
	return (unsigned)port;
}

void balancer_list_published(const char *dir, struct strlist *ret)
{
	cleanup_with(balancer_config_release) struct balancer_config config = BALANCER_CONFIG_INIT;

	if (balancer_pid(dir) == 0 || front_door_read_config(dir, &config, NULL) < 0)
		return;
	for (size_t i = 0; i < config.forward_count; i++)
		strlist_add(ret, config.forwards[i].listen);
}

bool balancer_publishes(const char *dir, const char *address)
{
	cleanup_with(strlist_release) struct strlist all = STRLIST_INIT;

	balancer_list_published(dir, &all);
	return strlist_has(&all, address);
}

bool balancer_leads_to(const char *dir, const char *name)
{
	cleanup_free char *path = file_of(dir, FRONT_DOOR_STATUS);
	json_auto_t *status = json_load_file(path, 0, NULL);
	const json_t *backends = json_object_get(status, "backends");

	for (size_t i = 0; i < json_array_size(backends); i++) {
		const json_t *backend = json_array_get(backends, i);
		const char *own = json_string_value(json_object_get(backend, "name"));

		if (own && strcmp(own, name) == 0)
			return true;
	}
	return false;
}

/* Whether PID, which holds the lock, listens; the status file then has its pid.  *RET_OUTDATED
 * tells whether it is of an earlier version. */
static bool is_ready(const char *dir, pid_t pid, bool *ret_outdated)
{
	cleanup_free char *path = file_of(dir, FRONT_DOOR_STATUS);
	json_auto_t *status = json_load_file(path, 0, NULL);

	*ret_outdated = json_integer_value(json_object_get(status, "revision")) <
			FRONT_DOOR_REVISION;
	return json_integer_value(json_object_get(status, "pid")) == pid;
}

static void rotate_log(const char *path)
{
	cleanup_free char *old = xasprintf("%s.1", path);
	struct stat st;

	if (stat(path, &st) == 0 && st.st_size > log_most_bytes)
		(void)rename(path, old);
}

/* Read the report of the new process from FD until it closes FD, or until DEADLINE_MS. */
static int read_report(int fd, int64_t deadline_ms, struct strbuf *report, struct error *err)
{
	struct pollfd ready = { .fd = fd, .events = POLLIN };

	for (;;) {
		int n = poll(&ready, 1, clock_left_ms(deadline_ms));
		ssize_t len;

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_sys(err, "cannot wait for the front door");
		if (n == 0)
			return error_set(err, -ETIMEDOUT, "the front door did not start in time");
		len = read(fd, strbuf_grow(report, 4096), 4096);
		if (len <= 0)
			return 0;
		strbuf_grown(report, (size_t)len);
	}
}

/* Start a keeper that reports to READY, the write end of a pipe. */
static int spawn_keeper(const char *dir, int ready, struct error *err)
{
	cleanup_with(strlist_release) struct strlist environment = STRLIST_INIT;
	cleanup_free char *log = file_of(dir, FRONT_DOOR_LOG);
	cleanup_free char *dir_copy = xstrdup(dir);
	struct process_options options = { .output = log, .no_stdin = true, .new_session = true };
	struct process process = PROCESS_INIT;
	cleanup_free char *program = path_itself();
	int r;

	rotate_log(log);
	/* A long-running process must not keep the user's current file system busy. */
	if (dir[0] == '/')
		options.dir = "/";
	strlist_add_all(&environment, environ);
	strlist_addf(&environment, FRONT_DOOR_READY_FD "=%d", ready);
	options.environment = environment.items;
	r = process_spawn(ARGV(program, (char[]){ "front-door" }, dir_copy), &options, &process,
			  err);
	/* The keeper outlives us; init reaps it. */
	if (r == 0)
		(void)close(process.pidfd);
	return r;
}

/* Start a keeper and wait for its report; 0 if it is ready, -EBUSY if another one runs. */
static int start_keeper(const char *dir, int64_t deadline_ms, struct error *err)
{
	cleanup_with(strbuf_release) struct strbuf report = STRBUF_INIT;
	cleanup_fd int ready_read = -1;
	cleanup_fd int ready_write = -1;
	int ends[2];
	int r;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return error_sys(err, "cannot make a pipe");
	ready_read = ends[0];
	ready_write = ends[1];
	if (fcntl(ready_write, F_SETFD, 0) < 0)
		return error_sys(err, "cannot make a pipe");
	r = spawn_keeper(dir, ready_write, err);
	if (r < 0)
		return r;
	(void)close(take_fd(ready_write));
	r = read_report(ready_read, deadline_ms, &report, err);
	if (r < 0)
		return r;
	if (strcmp(report.text, "ready") == 0)
		return 0;
	if (strncmp(report.text, "busy", 4) == 0)
		return -EBUSY;
	if (strncmp(report.text, "error ", 6) == 0)
		return error_because(err, &reason_network, -EIO, "the front door: %s",
				     report.text + 6);
	return error_set(err, -EIO, "the front door did not start; see '%s/%s'", dir,
			 FRONT_DOOR_LOG);
}

int balancer_ensure(const char *dir, struct error *err)
{
	int64_t deadline = clock_now_ms() + start_limit_ms;

	do {
		pid_t pid = balancer_pid(dir);
		bool outdated;
		int r;

		if (pid > 0 && is_ready(dir, pid, &outdated)) {
			/* If we may not stop it, because it belongs to another user, use it. */
			if (!outdated || balancer_stop(dir, NULL) < 0)
				return 0;
			continue;
		}
		if (pid == 0) {
			r = start_keeper(dir, deadline, err);
			if (r != -EBUSY)
				return r;
		}
		/* Another command is just starting it. */
	} while (clock_poll(deadline, poll_ms));
	return error_because(err, &reason_network, -ETIMEDOUT,
			     "the front door did not start in time");
}

/* Identifies a version of the status file, which is replaced, not rewritten. */
struct status_mark {
	ino_t inode;
	struct timespec written;
};

static struct status_mark mark_status(const char *dir)
{
	cleanup_free char *path = file_of(dir, FRONT_DOOR_STATUS);
	struct stat st;

	return stat(path, &st) == 0 ? (struct status_mark){ st.st_ino, st.st_mtim }
				    : (struct status_mark){ 0 };
}

static bool is_same_status(const struct status_mark *a, const struct status_mark *b)
{
	return a->inode == b->inode && a->written.tv_sec == b->written.tv_sec &&
	       a->written.tv_nsec == b->written.tv_nsec;
}

/* Make the keeper read its configuration again: it watches for writers that close the file. */
static int remind_keeper(const char *dir, struct error *err)
{
	cleanup_free char *path = file_of(dir, FRONT_DOOR_CONFIG);
	cleanup_fd int fd = open(path, O_WRONLY | O_CLOEXEC);

	return fd < 0 ? error_sys(err, "cannot open '%s'", path) : 0;
}

/*
 * The keeper passes its configuration to the worker even if nothing has changed, the worker answers
 * with a report, and the keeper writes that to the status file.  A new status file therefore shows
 * that both work.
 */
int balancer_hangs(const char *dir, struct error *err)
{
	int64_t deadline_ms = clock_now_ms() + answer_limit_ms;
	struct status_mark before = mark_status(dir);
	pid_t keeper = balancer_pid(dir);
	int r;

	if (keeper == 0)
		return 0;
	r = remind_keeper(dir, err);
	if (r < 0)
		return r;
	do {
		struct status_mark now = mark_status(dir);

		if (!is_same_status(&now, &before) || balancer_pid(dir) != keeper)
			return 0;
		clock_rest_ms(poll_ms);
	} while (clock_left_ms(deadline_ms) > 0);
	return 1;
}

static bool has_parent(pid_t pid, pid_t parent)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_free char *path = xasprintf("/proc/%d/status", (int)pid);
	cleanup_free char *line = xasprintf("\nPPid:\t%d\n", (int)parent);

	return file_read(path, 65536, &text, NULL) == 0 && strstr(text.text, line);
}

/* Open a pidfd of the worker of KEEPER; -1 if there is none.
 * The caller holds a pidfd of KEEPER. */
static int open_worker(const char *dir, pid_t keeper)
{
	pid_t pid = balancer_worker_pid(dir);
	cleanup_fd int pidfd = pid > 0 ? pidfd_open(pid, 0) : -1;

	/* The status file may be outdated and the pid reused. */
	return pidfd >= 0 && has_parent(pid, keeper) ? take_fd(pidfd) : -1;
}

static bool ends_in_time(int pidfd)
{
	struct pollfd end = { .fd = pidfd, .events = POLLIN };

	/* poll() ignores negative descriptors and would wait for nothing. */
	return pidfd < 0 || poll(&end, 1, stop_limit_ms) > 0;
}

int balancer_stop(const char *dir, struct error *err)
{
	pid_t pid = balancer_pid(dir);
	cleanup_fd int pidfd = -1;
	cleanup_fd int worker = -1;

	if (pid == 0)
		return 0;
	pidfd = pidfd_open(pid, 0);
	/* The pid may have been reused before we opened it: check the lock again. */
	if (pidfd < 0 || balancer_pid(dir) != pid)
		return 0;
	worker = open_worker(dir, pid);
	if (pidfd_send_signal(pidfd, SIGTERM, NULL, 0) < 0 && errno != ESRCH)
		return error_sys(err, "cannot stop the front door, process %d", (int)pid);
	if (!ends_in_time(pidfd))
		(void)pidfd_send_signal(pidfd, SIGKILL, NULL, 0);
	if (!ends_in_time(pidfd))
		return error_set(err, -ETIMEDOUT, "cannot kill the front door, process %d",
				 (int)pid);
	/* The worker ends with its keeper, and uses the addresses until then. */
	if (!ends_in_time(worker))
		return error_set(err, -ETIMEDOUT, "the worker of the front door does not end");
	return 0;
}
