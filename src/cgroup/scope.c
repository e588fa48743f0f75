/*
 * The place of a cluster's control groups.
 *
 * systemd makes a scope around an existing process and removes it with the last process.  Ours
 * starts with a `cat` (the keeper) whose standard input we hold.  When it echoes a byte, the scope
 * exists; it ends when we close its input, however we end.  The keeper is moved to a sub-group,
 * because a v2 group with processes cannot pass controllers on to its sub-groups.
 */

#include "cgroup/scope.h"

#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/strbuf.h"
#include "cgroup/cgroup.h"

#define CGROUP_ROOT   "/sys/fs/cgroup"
#define CGROUP2_MAGIC 0x63677270

/* systemd's slice for virtual machines and containers. */
#define SLICE "machine.slice"

enum {
	OPEN_MS = 30000,   /* how long systemd may take to make a scope, also on slow hosts */
	VANISH_MS = 10000, /* how long it may take to notice that a scope is empty */
	POLL_MS = 20,
};

bool scope_is_used(void)
{
	struct statfs fs;

	return file_exists("/run/systemd/system") && statfs(CGROUP_ROOT, &fs) == 0 &&
	       fs.f_type == CGROUP2_MAGIC;
}

char *scope_group_in(const char *cluster, bool with_scopes)
{
	return with_scopes ? xasprintf(SLICE "/manykube-%s.scope", cluster)
			   : xasprintf("manykube/%s", cluster);
}

char *scope_group(const char *cluster)
{
	return scope_group_in(cluster, scope_is_used());
}

void scope_release(struct scope *scope)
{
	if (scope->hold >= 0) {
		/* Child processes may have inherited the socket, so closing it is not enough. */
		(void)shutdown(scope->hold, SHUT_RDWR);
		(void)close(take_fd(scope->hold));
		(void)process_wait(&scope->keeper, clock_now_ms() + VANISH_MS, NULL);
	}
	process_release(&scope->keeper);
	if (scope->keeper_group)
		cgroup_remove_if_empty(scope->keeper_group);
	free(scope->keeper_group);
	*scope = SCOPE_INIT;
}

/* Whether the keeper echoes a byte, which means that the scope exists.  Otherwise ANSWER receives
 * the error message of systemd-run. */
static bool echoes(int keeper, struct strbuf *answer)
{
	struct pollfd ready = { .fd = keeper, .events = POLLIN };
	char text[1024];
	ssize_t len;

	if (write(keeper, "\n", 1) != 1 || poll(&ready, 1, OPEN_MS) != 1)
		return false;
	len = read(keeper, text, sizeof(text));
	if (len == 1 && text[0] == '\n')
		return true;
	if (len > 0)
		strbuf_add_mem(answer, text, (size_t)len);
	strbuf_trim_end(answer);
	return false;
}

/* Ask systemd once for a scope around a keeper; -EAGAIN with the reason in ANSWER if it refuses. */
static int ask_systemd(const char *cluster, const char *name, struct scope *scope,
		       struct strbuf *answer, struct error *err)
{
	cleanup_free char *unit = xasprintf("--unit=manykube-%s.scope", cluster);
	cleanup_free char *words = xasprintf("--description=Kubernetes cluster '%s' of manykube",
					     name);
	struct process_options options = { .dies_with_us = true };
	cleanup_fd int theirs = -1;
	int pair[2];
	int r;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return error_sys(err, "cannot make a pair of sockets");
	scope->hold = pair[0];
	theirs = pair[1];
	options.stdin_fd = options.stdout_fd = options.stderr_fd = theirs;
	/* A cluster may have more processes than systemd's default limit for a unit. */
	r = process_spawn(ARGV("systemd-run", "--quiet", "--scope", "--collect", "--slice=" SLICE,
			       unit, words, "--property=Delegate=yes",
			       "--property=TasksMax=infinity", "--", "cat"),
			  &options, &scope->keeper, err);
	(void)close(take_fd(theirs));
	if (r < 0)
		return error_reason(err, r, &reason_host_missing_tool);
	return echoes(scope->hold, answer) ? 0 : -EAGAIN;
}

/* Move the keeper to a sub-group: controllers can be enabled only in a group without processes. */
static int move_keeper_aside(const char *group, struct scope *scope, struct error *err)
{
	int r;

	scope->keeper_group = xasprintf("%s/keeper", group);
	r = cgroup_create(scope->keeper_group, err);
	return r < 0 ? r : cgroup_enter(scope->keeper_group, scope->keeper.pid, err);
}

int scope_open(const char *cluster, const char *name, struct scope *ret_scope, struct error *err)
{
	cleanup_with(scope_release) struct scope scope = SCOPE_INIT;
	cleanup_with(strbuf_release) struct strbuf answer = STRBUF_INIT;
	cleanup_free char *group = scope_group(cluster);
	int64_t deadline = clock_now_ms() + VANISH_MS;
	int r;

	if (!scope_is_used() || cgroup_has_processes(group))
		return 0;
	/* A scope that has just become empty exists until systemd notices, so retry. */
	while ((r = ask_systemd(cluster, name, &scope, &answer, err)) == -EAGAIN &&
	       clock_poll(deadline, POLL_MS)) {
		scope_release(&scope);
		strbuf_reset(&answer);
	}
	if (r == -EAGAIN)
		return error_because(err, &reason_host_config, r,
				     "systemd cannot make a scope for the cluster: %s",
				     answer.len > 0 ? answer.text : "no answer");
	if (r == 0)
		r = move_keeper_aside(group, &scope, err);
	if (r < 0)
		return r;
	*ret_scope = scope;
	scope = SCOPE_INIT;
	return 0;
}

/* Whether PID is directly in GROUP. */
static bool is_in_group(pid_t pid, const char *group)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_free char *path = xasprintf("/proc/%d/cgroup", (int)pid);
	cleanup_free char *end = xasprintf("/%s\n", group);

	return file_read(path, 65536, &text, NULL) == 0 && strstr(text.text, end);
}

int scope_adopt(const char *cluster, const char *name, const char *leaf, pid_t pid,
		struct error *err)
{
	cleanup_with(scope_release) struct scope scope = SCOPE_INIT;
	cleanup_free char *above = scope_group(cluster);
	cleanup_free char *group = xasprintf("%s/%s", above, leaf);
	int r;

	if (!scope_is_used() || geteuid() != 0 || is_in_group(pid, group))
		return 0;
	r = scope_open(cluster, name, &scope, err);
	if (r == 0)
		r = cgroup_create(group, err);
	return r < 0 ? r : cgroup_enter(group, pid, err);
}

int scope_destroy(const char *cluster, struct error *err)
{
	cleanup_free char *group = scope_group(cluster);
	cleanup_free char *dir = xasprintf(CGROUP_ROOT "/%s", group);
	int64_t deadline = clock_now_ms() + VANISH_MS;
	int r = cgroup_kill(group, err);

	/* systemd removes the group together with the unit; wait until both are gone. */
	while (r == 0 && scope_is_used() && file_exists(dir) && clock_poll(deadline, POLL_MS))
		;
	if (r == 0)
		r = cgroup_remove(group, err);
	if (r == 0 && !scope_is_used())
		cgroup_remove_if_empty("manykube");
	return r;
}
