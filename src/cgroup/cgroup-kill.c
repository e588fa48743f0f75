/* Finding and killing the processes of control groups, and removing groups. */

#include <fcntl.h>
#include <signal.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/parse.h"
#include "base/strbuf.h"
#include "base/strlist.h"
#include "cgroup/cgroup-find.h"
#include "cgroup/cgroup-walk.h"
#include "cgroup/cgroup.h"

/* Far more than a host can have. */
#define PIDS_MOST_BYTES (64u << 20)

/* The hierarchy in which to look for processes: v2 if it has controllers, else v1's pids. */
static const struct cgroup_hierarchy *tracking(const struct cgroup_hierarchies *h)
{
	for (size_t i = 0; i < h->count; i++)
		if (h->all[i].v2 != h->has_v1 &&
		    (h->all[i].v2 || cgroup_has_controller(&h->all[i], "pids")))
			return &h->all[i];
	return &h->all[0];
}

struct kill_work {
	const char *name; /* of the program; NULL: any */
	int signal;       /* 0: only count */
	unsigned found;
};

/* Whether PID runs the program NAME, which has at most 15 characters, like the kernel's names. */
static bool is_program(pid_t pid, const char *name)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_free char *path = xasprintf("/proc/%d/comm", (int)pid);

	return file_read(path, 64, &text, NULL) == 0 && strcspn(text.text, "\n") == strlen(name) &&
	       strncmp(text.text, name, strlen(name)) == 0;
}

static int signal_group(int group, void *data)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_with(strlist_release) struct strlist pids = STRLIST_INIT;
	cleanup_fd int fd = openat(group, "cgroup.procs", O_RDONLY | O_CLOEXEC);
	struct kill_work *work = data;
	const char *pid;

	if (fd < 0 || file_read_fd(fd, PIDS_MOST_BYTES, &text, NULL) < 0)
		return 0;
	strlist_split(&pids, text.text, '\n');
	strlist_for_each(pid, &pids) {
		unsigned long long number;

		/* 0 stands for a process that is not in our pid namespace. */
		if (parse_number(pid, 1, INT32_MAX, &number, NULL) < 0 ||
		    (work->name && !is_program((pid_t)number, work->name)))
			continue;
		work->found++;
		if (work->signal)
			(void)kill((pid_t)number, work->signal);
	}
	return 0;
}

/* Signal all processes in the group DIR and below; RET_FOUND says how many. */
static int signal_all(const char *dir, int signal, unsigned *ret_found)
{
	struct kill_work work = { .signal = signal };
	cleanup_with(cgroup_walk_release) struct cgroup_walk walk = { .visit = signal_group,
								      .data = &work };
	int r = cgroup_walk(&walk, dir);

	*ret_found = work.found;
	return r;
}

bool cgroup_has_processes(const char *path)
{
	cleanup_with(cgroup_hierarchies_release) struct cgroup_hierarchies h = { .count = 0 };
	cleanup_free char *dir = NULL;
	unsigned found;

	if (cgroup_find_hierarchies(&h, NULL) < 0)
		return false;
	dir = xasprintf("%s/%s", tracking(&h)->mount, path);
	/* A walk that failed was disturbed by a process that changes groups. */
	return signal_all(dir, 0, &found) < 0 || found > 0;
}

unsigned cgroup_signal_program(const char *path, const char *name, int signal)
{
	cleanup_with(cgroup_hierarchies_release) struct cgroup_hierarchies h = { .count = 0 };
	struct kill_work work = { .name = name, .signal = signal };
	cleanup_with(cgroup_walk_release) struct cgroup_walk walk = { .visit = signal_group,
								      .data = &work };
	cleanup_free char *dir = NULL;

	if (cgroup_find_hierarchies(&h, NULL) < 0)
		return 0;
	dir = xasprintf("%s/%s", tracking(&h)->mount, path);
	(void)cgroup_walk(&walk, dir);
	return work.found;
}

static int thaw_group(int group, arg_unused void *data)
{
	cleanup_fd int fd = openat(group, "freezer.state", O_WRONLY | O_CLOEXEC);

	if (fd >= 0)
		(void)!write(fd, "THAWED", 6);
	return 0;
}

/* Thaw PATH and all groups below it.  On v1, a frozen process does not die before it is thawed, and
 * a container below PATH may be frozen on its own. */
static void thaw_all(const struct cgroup_hierarchies *h, const char *path)
{
	for (size_t i = 0; i < h->count; i++) {
		cleanup_with(cgroup_walk_release) struct cgroup_walk walk = { .visit = thaw_group };
		cleanup_free char *dir = xasprintf("%s/%s", h->all[i].mount, path);

		if (cgroup_has_controller(&h->all[i], "freezer"))
			(void)cgroup_walk(&walk, dir);
	}
}

/* Write VALUE to the file NAME of the group PATH in every hierarchy that has it. */
static void poke_all(const struct cgroup_hierarchies *h, const char *path, const char *name,
		     const char *value)
{
	for (size_t i = 0; i < h->count; i++) {
		cleanup_free char *file = xasprintf("%s/%s/%s", h->all[i].mount, path, name);

		(void)file_poke(file, value, NULL);
	}
}

/*
 * cgroup.kill (v2, also on hybrid hosts) kills all processes at once, including new children.
 * Without it, processes are signalled one by one, and one that forks quickly enough could survive.
 * From the second round on, therefore, processes cannot fork and are frozen while being signalled.
 */
int cgroup_kill_until(const char *path, int64_t deadline_ms, struct error *err)
{
	cleanup_with(cgroup_hierarchies_release) struct cgroup_hierarchies h = { .count = 0 };
	cleanup_free char *dir = NULL;
	int r = cgroup_find_hierarchies(&h, err);

	if (r < 0)
		return r;
	dir = xasprintf("%s/%s", tracking(&h)->mount, path);
	if (!file_exists(dir))
		return 0;
	for (unsigned round = 0;; round++) {
		unsigned found;

		poke_all(&h, path, "cgroup.kill", "1");
		if (round > 0) {
			poke_all(&h, path, "pids.max", "0");
			poke_all(&h, path, "freezer.state", "FROZEN");
		}
		r = signal_all(dir, SIGKILL, &found);
		thaw_all(&h, path);
		/* The first round may have missed a process that was forked during the walk. */
		if (r == 0 && found == 0 && round > 0)
			return 0;
		/* On a busy host, a single round can take until the deadline. */
		if (!clock_poll(deadline_ms, CGROUP_POLL_MS) && round > 0)
			return found > 0
				       ? error_set(err, -ETIMEDOUT,
						   "cannot kill %u processes of '%s'", found, path)
				       : error_set(err, -ETIMEDOUT,
						   "cannot find all processes of '%s'", path);
	}
}

int cgroup_kill(const char *path, struct error *err)
{
	return cgroup_kill_until(path, clock_now_ms() + 10000, err);
}

int cgroup_remove(const char *path, struct error *err)
{
	cleanup_with(cgroup_hierarchies_release) struct cgroup_hierarchies h = { .count = 0 };
	int64_t deadline = clock_now_ms() + 5000;
	int r = cgroup_find_hierarchies(&h, err);

	for (size_t i = 0; r == 0 && i < h.count; i++) {
		cleanup_with(
			cgroup_walk_release) struct cgroup_walk walk = { .remove_until = deadline };
		cleanup_free char *dir = xasprintf("%s/%s", h.all[i].mount, path);

		r = cgroup_walk(&walk, dir);
		if (r < 0) {
			errno = -r;
			return error_sys(err, "cannot remove the control group '%s'", dir);
		}
	}
	return r;
}
