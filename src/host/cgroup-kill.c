/*
 * The processes of control groups: found, killed; and groups removed.
 *
 * The groups below a node's are made by the node's root, as many and as deep as they like and with
 * any name, so they are walked with two descriptors at most and without paths.
 */

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
#include "host/cgroup-find.h"
#include "host/cgroup.h"

/* Far more than a host can have. */
#define PIDS_MOST_BYTES (64u << 20)

/* The hierarchy in which processes are looked for: v2 if it has controllers, else any of v1's. */
static const struct cgroup_hierarchy *tracking(const struct cgroup_hierarchies *h)
{
	for (size_t i = 0; i < h->count; i++)
		if (h->all[i].v2 != h->has_v1 &&
		    (h->all[i].v2 || cgroup_has_controller(&h->all[i], "pids")))
			return &h->all[i];
	return &h->all[0];
}

/* A walk through the groups below one, deepest first. */
struct walk {
	/* Called for every group; a negative return ends the walk. */
	int (*visit)(int group, void *data);
	void *data;
	int64_t remove_until; /* not 0: remove groups that were visited, waiting until then */

	DIR *dir;
	struct {
		char *name;    /* of the group that was entered */
		long position; /* of what comes after it in the group above */
	} * levels;
	size_t depth;
	size_t room;
};

static void release_walk(struct walk *walk)
{
	for (size_t i = 0; i < walk->depth; i++)
		free(walk->levels[i].name);
	free(walk->levels);
	cleanup_dir_(&walk->dir);
}

/* Go on in the group NAME of the current one. */
static int walk_to(struct walk *walk, int from, const char *name)
{
	int fd = openat(from, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *next;

	if (fd < 0)
		return -errno;
	next = fdopendir(fd);
	if (!next) {
		(void)close(fd);
		return -ENOMEM;
	}
	cleanup_dir_(&walk->dir);
	walk->dir = next;
	return 0;
}

static int walk_down(struct walk *walk, const char *name)
{
	cleanup_free char *copy = xstrdup(name);
	long position = telldir(walk->dir);
	int r = walk_to(walk, dirfd(walk->dir), copy);

	/* One that was removed meanwhile is none to visit. */
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	if (walk->depth == walk->room) {
		walk->room = walk->room ? walk->room * 2 : 16;
		walk->levels = xrealloc(walk->levels, walk->room, sizeof(*walk->levels));
	}
	walk->levels[walk->depth].name = take_ptr(copy);
	walk->levels[walk->depth++].position = position;
	return 0;
}

/* The kernel lets go of a group a moment after its last process. */
static int remove_group(int parent, const char *name, int64_t deadline)
{
	while (unlinkat(parent, name, AT_REMOVEDIR) < 0) {
		if (errno == ENOENT)
			return 0;
		if (errno != EBUSY || clock_now_ms() > deadline)
			return -errno;
		clock_rest_ms(5);
	}
	return 0;
}

/* Groups are never moved to another parent, so ".." is where we came from. */
static int walk_up(struct walk *walk)
{
	cleanup_free char *name = take_ptr(walk->levels[--walk->depth].name);
	int r = walk_to(walk, dirfd(walk->dir), "..");

	if (r < 0)
		return r;
	if (walk->remove_until)
		return remove_group(dirfd(walk->dir), name, walk->remove_until);
	seekdir(walk->dir, walk->levels[walk->depth].position);
	return 0;
}

static int walk_groups(struct walk *walk, const char *top)
{
	struct dirent *entry;
	int r = walk_to(walk, AT_FDCWD, top);

	if (r < 0)
		return r == -ENOENT ? 0 : r;
	for (;;) {
		entry = readdir(walk->dir);
		if (entry && (entry->d_type != DT_DIR || strcmp(entry->d_name, ".") == 0 ||
			      strcmp(entry->d_name, "..") == 0))
			continue;
		if (entry) {
			r = walk_down(walk, entry->d_name);
		} else {
			r = walk->visit ? walk->visit(dirfd(walk->dir), walk->data) : 0;
			if (r == 0 && walk->depth == 0)
				break;
			if (r == 0)
				r = walk_up(walk);
		}
		if (r < 0)
			return r;
	}
	return walk->remove_until ? remove_group(AT_FDCWD, top, walk->remove_until) : 0;
}

struct kill_work {
	const char *name; /* of the program; NULL: any */
	int signal;       /* 0: only count */
	unsigned found;
};

/* Whether the process PID runs the program NAME, of which the kernel knows 15 characters. */
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

		/* 0 stands for a process that our pid namespace can't see. */
		if (parse_number(pid, 1, INT32_MAX, &number, NULL) < 0 ||
		    (work->name && !is_program((pid_t)number, work->name)))
			continue;
		work->found++;
		if (work->signal)
			(void)kill((pid_t)number, work->signal);
	}
	return 0;
}

/* Signal all processes in the group FOLDER and below; RET_FOUND says how many. */
static int signal_all(const char *folder, int signal, unsigned *ret_found)
{
	struct kill_work work = { .signal = signal };
	cleanup_with(release_walk) struct walk walk = { .visit = signal_group, .data = &work };
	int r = walk_groups(&walk, folder);

	*ret_found = work.found;
	return r;
}

bool cgroup_has_processes(const char *path)
{
	cleanup_with(cgroup_hierarchies_release) struct cgroup_hierarchies h = { .count = 0 };
	cleanup_free char *folder = NULL;
	unsigned found;

	if (cgroup_find_hierarchies(&h, NULL) < 0)
		return false;
	folder = xasprintf("%s/%s", tracking(&h)->mount, path);
	/* A walk that was disturbed was disturbed by somebody. */
	return signal_all(folder, 0, &found) < 0 || found > 0;
}

unsigned cgroup_signal_program(const char *path, const char *name, int signal)
{
	cleanup_with(cgroup_hierarchies_release) struct cgroup_hierarchies h = { .count = 0 };
	struct kill_work work = { .name = name, .signal = signal };
	cleanup_with(release_walk) struct walk walk = { .visit = signal_group, .data = &work };
	cleanup_free char *folder = NULL;

	if (cgroup_find_hierarchies(&h, NULL) < 0)
		return 0;
	folder = xasprintf("%s/%s", tracking(&h)->mount, path);
	(void)walk_groups(&walk, folder);
	return work.found;
}

static int thaw_group(int group, arg_unused void *data)
{
	cleanup_fd int fd = openat(group, "freezer.state", O_WRONLY | O_CLOEXEC);

	if (fd >= 0)
		(void)!write(fd, "THAWED", 6);
	return 0;
}

/* A frozen process does not die before it is thawed (v1), and a container in PATH may be frozen by
 * itself. */
static void thaw_all(const struct cgroup_hierarchies *h, const char *path)
{
	for (size_t i = 0; i < h->count; i++) {
		cleanup_with(release_walk) struct walk walk = { .visit = thaw_group };
		cleanup_free char *folder = xasprintf("%s/%s", h->all[i].mount, path);

		if (cgroup_has_controller(&h->all[i], "freezer"))
			(void)walk_groups(&walk, folder);
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
 * cgroup.kill (v2, also beside v1) ends all at once, and what they fork meanwhile.  Elsewhere we
 * signal one after another, which who forks quickly enough survives.  So from the second round on
 * no process may fork, and all are frozen while they are being signalled.
 */
int cgroup_kill(const char *path, struct error *err)
{
	cleanup_with(cgroup_hierarchies_release) struct cgroup_hierarchies h = { .count = 0 };
	int64_t deadline = clock_now_ms() + 10000;
	cleanup_free char *folder = NULL;
	int r = cgroup_find_hierarchies(&h, err);

	if (r < 0)
		return r;
	folder = xasprintf("%s/%s", tracking(&h)->mount, path);
	if (!file_exists(folder))
		return 0;
	for (unsigned round = 0;; round++) {
		unsigned found;

		poke_all(&h, path, "cgroup.kill", "1");
		if (round > 0) {
			poke_all(&h, path, "pids.max", "0");
			poke_all(&h, path, "freezer.state", "FROZEN");
		}
		r = signal_all(folder, SIGKILL, &found);
		thaw_all(&h, path);
		/* The first round may have looked while one process took another's place. */
		if (r == 0 && found == 0 && round > 0)
			return 0;
		if (clock_now_ms() > deadline)
			return error_set(err, -ETIMEDOUT, "%u processes of '%s' do not end", found,
					 path);
		clock_rest_ms(5);
	}
}

int cgroup_remove(const char *path, struct error *err)
{
	cleanup_with(cgroup_hierarchies_release) struct cgroup_hierarchies h = { .count = 0 };
	int64_t deadline = clock_now_ms() + 5000;
	int r = cgroup_find_hierarchies(&h, err);

	for (size_t i = 0; r == 0 && i < h.count; i++) {
		cleanup_with(release_walk) struct walk walk = { .remove_until = deadline };
		cleanup_free char *folder = xasprintf("%s/%s", h.all[i].mount, path);

		r = walk_groups(&walk, folder);
		if (r < 0) {
			errno = -r;
			return error_sys(err, "cannot remove the control group '%s'", folder);
		}
	}
	return r;
}
