/*
 * Making, limiting, freezing and mounting control groups on v1, v2 and hybrid hosts.  See
 * cgroup-kill.c for killing processes and removing groups.
 *
 * /proc/self/mountinfo lists the hierarchies.  On v1 each controller, or a few together, is a
 * hierarchy of its own, and a group is made in each.  On v2 there is one hierarchy, in which
 * controllers must be enabled from the root downwards.  A hybrid host has v1 controllers and a v2
 * hierarchy without any; there, v1 is used.
 */

#include "cgroup/cgroup.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/parse.h"
#include "base/strbuf.h"
#include "base/strlist.h"
#include "cgroup/cgroup-find.h"

/* Copy the CPUs of PARENT to DIR: a new cpuset on v1 is empty, and no process can run in it. */
static void fill_cpuset(const char *parent, const char *dir)
{
	static const char *const files[] = { "cpuset.cpus", "cpuset.mems" };
	cleanup_free char *clone = xasprintf("%s/cgroup.clone_children", dir);

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		cleanup_with(strbuf_release) struct strbuf value = STRBUF_INIT;
		cleanup_free char *from = xasprintf("%s/%s", parent, files[i]);
		cleanup_free char *to = xasprintf("%s/%s", dir, files[i]);

		if (file_read(from, 65536, &value, NULL) == 0)
			(void)file_poke(to, value.text, NULL);
	}
	(void)file_poke(clone, "1", NULL);
}

/* Whether the v2 group DIR, other than the root, has processes of its own. */
static bool is_inhabited(const char *dir)
{
	cleanup_with(strbuf_release) struct strbuf pids = STRBUF_INIT;
	cleanup_free char *type = xasprintf("%s/cgroup.type", dir);
	cleanup_free char *procs = xasprintf("%s/cgroup.procs", dir);

	return file_exists(type) && file_read(procs, 1 << 20, &pids, NULL) == 0 && pids.len > 0;
}

/*
 * Enable all possible controllers for the groups below DIR.  Does nothing if DIR has processes: the
 * kernel would then enable only some controllers and restrict the groups below to threads.
 */
static void enable_controllers(const char *dir)
{
	cleanup_with(strbuf_release) struct strbuf have = STRBUF_INIT;
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	cleanup_free char *from = xasprintf("%s/cgroup.controllers", dir);
	cleanup_free char *to = xasprintf("%s/cgroup.subtree_control", dir);
	const char *name;

	if (is_inhabited(dir) || file_read(from, 4096, &have, NULL) < 0)
		return;
	strbuf_trim_end(&have);
	strlist_split(&names, have.text, ' ');
	strlist_for_each(name, &names) {
		cleanup_free char *word = xasprintf("+%s", name);

		(void)file_poke(to, word, NULL);
	}
}

static int create_in(const struct cgroup_hierarchy *hierarchy, const char *path, struct error *err)
{
	cleanup_with(strlist_release) struct strlist parts = STRLIST_INIT;
	cleanup_free char *dir = xstrdup(hierarchy->mount);
	const char *part;

	strlist_split(&parts, path, '/');
	strlist_for_each(part, &parts) {
		cleanup_free char *parent = take_ptr(dir);

		if (hierarchy->v2)
			enable_controllers(parent);
		dir = xasprintf("%s/%s", parent, part);
		if (mkdir(dir, 0755) < 0 && errno != EEXIST)
			return error_sys(err, "cannot make the control group '%s'", dir);
		if (cgroup_has_controller(hierarchy, "cpuset"))
			fill_cpuset(parent, dir);
	}
	return 0;
}

int cgroup_create(const char *path, struct error *err)
{
	cleanup_with(cgroup_hierarchies_release) struct cgroup_hierarchies h = { .count = 0 };
	int r = cgroup_find_hierarchies(&h, err);

	for (size_t i = 0; r == 0 && i < h.count; i++) {
		/* Deleting another cluster may remove the parent group at the same time. */
		for (int attempt = 0; attempt < 5; attempt++) {
			r = create_in(&h.all[i], path, err);
			if (r != -ENOENT)
				break;
		}
	}
	return r;
}

int cgroup_complete(const char *path, struct error *err)
{
	cleanup_with(cgroup_hierarchies_release) struct cgroup_hierarchies h = { .count = 0 };
	int r = cgroup_find_hierarchies(&h, err);

	for (size_t i = 0; r == 0 && i < h.count; i++) {
		cleanup_free char *dir = xasprintf("%s/%s", h.all[i].mount, path);

		if (!file_exists(dir))
			r = create_in(&h.all[i], path, err);
	}
	return r;
}

char *cgroup_of_text(const char *text)
{
	cleanup_with(strlist_release) struct strlist lines = STRLIST_INIT;
	const char *unified = NULL;
	const char *found = NULL;
	const char *line;

	/* "NUMBER:CONTROLLERS:PATH"; on v2, number 0 and no controllers. */
	strlist_split(&lines, text, '\n');
	strlist_for_each(line, &lines) {
		const char *controllers = strchr(line, ':');
		const char *path = controllers ? strchr(controllers + 1, ':') : NULL;

		if (!path || path[1] != '/')
			continue;
		if (strncmp(line, "0::", 3) == 0)
			unified = path + 1;
		else if (strncmp(controllers, ":memory:", strlen(":memory:")) == 0)
			found = path + 1;
	}
	found = found ?: unified;
	/* "/..": it is outside of our own control group namespace. */
	if (!found || !found[1] || strncmp(found, "/..", 3) == 0)
		return NULL;
	return xstrdup(found + 1);
}

char *cgroup_of(pid_t pid)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_free char *path = xasprintf("/proc/%d/cgroup", (int)pid);

	return file_read(path, 65536, &text, NULL) < 0 ? NULL : cgroup_of_text(text.text);
}

int cgroup_enter(const char *path, pid_t pid, struct error *err)
{
	cleanup_with(cgroup_hierarchies_release) struct cgroup_hierarchies h = { .count = 0 };
	cleanup_free char *who = xasprintf("%d", (int)pid);
	int r = cgroup_find_hierarchies(&h, err);

	for (size_t i = 0; r == 0 && i < h.count; i++) {
		cleanup_free char *procs = xasprintf("%s/%s/cgroup.procs", h.all[i].mount, path);

		r = file_poke(procs, who, err);
	}
	return r;
}

int cgroup_door_open(const char *path, const char *leaf, struct cgroup_door *ret, struct error *err)
{
	cleanup_with(cgroup_hierarchies_release) struct cgroup_hierarchies h = { .count = 0 };
	int r = cgroup_find_hierarchies(&h, err);

	for (size_t i = 0; r == 0 && i < h.count; i++) {
		cleanup_free char *group = xasprintf("%s/%s/cgroup.procs", h.all[i].mount, path);
		cleanup_free char *below = xasprintf("%s/%s/%s/cgroup.procs", h.all[i].mount, path,
						     leaf);
		int fd = open(group, O_WRONLY | O_CLOEXEC);

		if (fd < 0)
			return error_sys(err, "cannot open '%s'", group);
		ret->fds[ret->count++] = open(below, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
		ret->fds[ret->count++] = fd;
	}
	return r;
}

void cgroup_door_release(struct cgroup_door *door)
{
	for (size_t i = 0; i < door->count; i++)
		if (door->fds[i] >= 0)
			(void)close(door->fds[i]);
	*door = CGROUP_DOOR_INIT;
}

int cgroup_door_pass(const struct cgroup_door *door)
{
	for (size_t i = 0; i < door->count; i += 2)
		if (write(door->fds[i], "0", 1) != 1 && write(door->fds[i + 1], "0", 1) != 1)
			return -1;
	return 0;
}

uint64_t cgroup_pids_share(uint64_t pid_max, uint64_t threads_max)
{
	const uint64_t enough = 8192; /* for 110 pods with 70 threads each */
	uint64_t most = pid_max < threads_max ? pid_max : threads_max;

	if (most / 2 < enough)
		return most / 2;
	return most / 4 > enough ? most / 4 : enough;
}

static uint64_t read_sysctl(const char *path)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	unsigned long long number;

	if (file_read(path, 64, &text, NULL) < 0)
		return UINT64_MAX;
	strbuf_trim_end(&text);
	return parse_number(text.text, 1, UINT64_MAX, &number, NULL) < 0 ? UINT64_MAX : number;
}

/*
 * The most memory that one group may use.  Files in a tmpfs stay when the processes that wrote them
 * are killed by the OOM killer, so the group must reach its limit before the host runs out.
 */
static uint64_t most_memory(void)
{
	uint64_t host = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);

	return host - host / 16;
}

/* A limit of a group: the file and the value to write. */
struct limit {
	const char *file;
	const char *value;
};

static int limit_in(const struct cgroup_hierarchy *hierarchy, const char *path,
		    const struct limit *limits, size_t count, struct error *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < count; i++) {
		cleanup_free char *file = xasprintf("%s/%s/%s", hierarchy->mount, path,
						    limits[i].file);

		/* Each file exists in at most one hierarchy. */
		if (file_exists(file))
			r = file_poke(file, limits[i].value, err);
	}
	return r;
}

int cgroup_limit(const char *path, unsigned cpus, uint64_t memory_bytes, struct error *err)
{
	cleanup_with(cgroup_hierarchies_release) struct cgroup_hierarchies h = { .count = 0 };
	cleanup_free char *quota = xasprintf("%llu", cpus * 100000ULL);
	cleanup_free char *bandwidth = xasprintf("%s 100000", cpus ? quota : "max");
	cleanup_free char *bytes = xasprintf(
		"%llu", (unsigned long long)(memory_bytes ? memory_bytes : most_memory()));
	cleanup_free char *pids = xasprintf(
		"%llu",
		(unsigned long long)cgroup_pids_share(read_sysctl("/proc/sys/kernel/pid_max"),
						      read_sysctl("/proc/sys/kernel/threads-max")));
	const struct limit limits[] = {
		{ "cpu.cfs_quota_us", cpus ? quota : "-1" },
		{ "cpu.max", bandwidth },
		{ "memory.limit_in_bytes", bytes },
		{ "memory.max", bytes },
		{ "pids.max", pids },
		{ "cgroup.max.depth", "64" },
		{ "cgroup.max.descendants", "16384" },
	};
	int r = cgroup_find_hierarchies(&h, err);

	for (size_t i = 0; r == 0 && i < h.count; i++)
		r = limit_in(&h.all[i], path, limits, ARRAY_SIZE(limits), err);
	return r;
}

int cgroup_delegate(const char *path, uid_t uid, gid_t gid, struct error *err)
{
	static const char *const files[] = { "", "/cgroup.procs", "/tasks", "/cgroup.threads",
					     "/cgroup.subtree_control" };
	cleanup_with(cgroup_hierarchies_release) struct cgroup_hierarchies h = { .count = 0 };
	int r = cgroup_find_hierarchies(&h, err);

	if (r < 0)
		return r;
	for (size_t i = 0; i < h.count; i++) {
		for (size_t k = 0; k < ARRAY_SIZE(files); k++) {
			cleanup_free char *file = xasprintf("%s/%s%s", h.all[i].mount, path,
							    files[k]);

			if (chown(file, uid, gid) < 0 && errno != ENOENT)
				return error_sys(err, "cannot give '%s' to the node", file);
		}
	}
	return 0;
}

static int set_frozen(const char *path, bool frozen, struct error *err)
{
	cleanup_with(cgroup_hierarchies_release) struct cgroup_hierarchies h = { .count = 0 };
	int r = cgroup_find_hierarchies(&h, err);

	for (size_t i = 0; r == 0 && i < h.count; i++) {
		cleanup_free char *v1 = xasprintf("%s/%s/freezer.state", h.all[i].mount, path);
		cleanup_free char *v2 = xasprintf("%s/%s/cgroup.freeze", h.all[i].mount, path);

		if (file_exists(v1))
			r = file_poke(v1, frozen ? "FROZEN" : "THAWED", err);
		else if (!h.has_v1 && file_exists(v2))
			r = file_poke(v2, frozen ? "1" : "0", err);
	}
	return r;
}

/* Append the file NAME of the group PATH to TEXT. */
static bool read_file(const struct cgroup_hierarchy *hierarchy, const char *path, const char *name,
		      struct strbuf *text)
{
	cleanup_free char *file = xasprintf("%s/%s/%s", hierarchy->mount, path, name);

	if (file_read(file, 65536, text, NULL) < 0)
		return false;
	strbuf_trim_end(text);
	return true;
}

/* The number after KEY in TEXT, which has lines of "KEY NUMBER"; 0 if there is none. */
static uint64_t number_behind(const char *text, const char *key)
{
	cleanup_with(strlist_release) struct strlist lines = STRLIST_INIT;
	unsigned long long number = 0;
	const char *line;
	size_t len = strlen(key);

	strlist_split(&lines, text, '\n');
	strlist_for_each(line, &lines)
		if (strncmp(line, key, len) == 0 && line[len] == ' ')
			(void)parse_number(line + len + 1, 0, UINT64_MAX, &number, NULL);
	return number;
}

bool cgroup_is_frozen(const char *path)
{
	cleanup_with(cgroup_hierarchies_release) struct cgroup_hierarchies h = { .count = 0 };

	if (cgroup_find_hierarchies(&h, NULL) < 0)
		return false;
	for (size_t i = 0; i < h.count; i++) {
		cleanup_with(strbuf_release) struct strbuf v1 = STRBUF_INIT;
		cleanup_with(strbuf_release) struct strbuf v2 = STRBUF_INIT;

		if (read_file(&h.all[i], path, "freezer.state", &v1))
			return strcmp(v1.text, "FROZEN") == 0;
		if (!h.has_v1 && read_file(&h.all[i], path, "cgroup.events", &v2))
			return number_behind(v2.text, "frozen") == 1;
	}
	return false;
}

/* On v1, freezing can miss processes that fork meanwhile and must then be requested again. */
int cgroup_freeze(const char *path, bool frozen, struct error *err)
{
	int64_t deadline = clock_now_ms() + 10000;
	int r;

	for (;;) {
		r = set_frozen(path, frozen, err);
		if (r < 0 || !frozen || cgroup_is_frozen(path))
			return r;
		if (!clock_poll(deadline, CGROUP_POLL_MS))
			break;
	}
	(void)set_frozen(path, false, NULL);
	return error_set(err, -ETIMEDOUT, "cannot freeze all processes of '%s'", path);
}

uint64_t cgroup_memory_bytes(const char *path)
{
	cleanup_with(cgroup_hierarchies_release) struct cgroup_hierarchies h = { .count = 0 };

	if (cgroup_find_hierarchies(&h, NULL) < 0)
		return 0;
	for (size_t i = 0; i < h.count; i++) {
		cleanup_with(strbuf_release) struct strbuf used = STRBUF_INIT;
		cleanup_with(strbuf_release) struct strbuf stat = STRBUF_INIT;
		bool v2 = h.all[i].v2;
		unsigned long long bytes;
		uint64_t droppable;

		if (!read_file(&h.all[i], path, v2 ? "memory.current" : "memory.usage_in_bytes",
			       &used) ||
		    parse_number(used.text, 0, UINT64_MAX, &bytes, NULL) < 0)
			continue;
		(void)read_file(&h.all[i], path, "memory.stat", &stat);
		droppable = number_behind(stat.text, v2 ? "inactive_file" : "total_inactive_file");
		return bytes > droppable ? bytes - droppable : 0;
	}
	return 0;
}

void cgroup_remove_if_empty(const char *path)
{
	cleanup_with(cgroup_hierarchies_release) struct cgroup_hierarchies h = { .count = 0 };

	if (cgroup_find_hierarchies(&h, NULL) < 0)
		return;
	for (size_t i = 0; i < h.count; i++) {
		cleanup_free char *dir = xasprintf("%s/%s", h.all[i].mount, path);

		(void)rmdir(dir);
	}
}

int cgroup_mount(const char *dir, struct error *err)
{
	cleanup_with(cgroup_hierarchies_release) struct cgroup_hierarchies h = { .count = 0 };
	const unsigned long flags = MS_NOSUID | MS_NODEV | MS_NOEXEC;
	int r = cgroup_find_hierarchies(&h, err);

	if (r < 0)
		return r;
	if (!h.has_v1) {
		if (mount("cgroup", dir, "cgroup2", flags, NULL) < 0)
			return error_sys(err, "cannot mount the node's cgroup hierarchy");
		return 0;
	}
	if (mount("cgroup", dir, "tmpfs", flags, "mode=755,size=64k,nr_inodes=1k") < 0)
		return error_sys(err, "cannot mount a directory for the node's cgroups");
	for (size_t i = 0; i < h.count; i++) {
		cleanup_free char *target = NULL;

		/* On a hybrid host, v2 has no controllers, and programs that find it would assume a
		 * v2 host. */
		if (h.all[i].v2)
			continue;
		target = xasprintf("%s%s", dir, strrchr(h.all[i].mount, '/'));
		if (mkdir(target, 0755) < 0 && errno != EEXIST)
			return error_sys(err, "cannot make the directory '%s'", target);
		if (mount("cgroup", target, "cgroup", flags, h.all[i].options) < 0)
			return error_sys(err, "cannot mount the node's cgroup controllers '%s'",
					 h.all[i].options);
	}
	return 0;
}
