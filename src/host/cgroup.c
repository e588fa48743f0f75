/*
 * Control groups on v1, v2 and hybrid hosts.
 *
 * How it works: /proc/self/mountinfo tells the hierarchies.  On v1 each controller (or a
 * few together) is a hierarchy of its own and the group is made in each; on v2 there is
 * one, in which controllers must be enabled from the root downward.  A hybrid host has
 * v1 controllers and an empty v2 beside them; then v1 does the work.
 */

#include "host/cgroup.h"

#include <fcntl.h>
#include <signal.h>
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

#define MAX_HIERARCHIES 24

struct hierarchy {
	char *mount;   /* where the host has it */
	char *options; /* what tells it from the others when mounting: "cpu,cpuacct"; empty on v2 */
	bool v2;
};

struct hierarchies {
	struct hierarchy all[MAX_HIERARCHIES];
	size_t count;
	bool has_v1; /* controllers are on v1, so v2 is only along for the ride */
};

static void release_hierarchies(struct hierarchies *h)
{
	for (size_t i = 0; i < h->count; i++) {
		free(h->all[i].mount);
		free(h->all[i].options);
	}
	h->count = 0;
}

/* The controllers among a v1 mount's super options: all but the flags that every mount has. */
static char *controller_options(const char *super)
{
	cleanup_with(strlist_release) struct strlist words = STRLIST_INIT;
	cleanup_with(strlist_release) struct strlist kept = STRLIST_INIT;
	const char *word;

	strlist_split(&words, super, ',');
	strlist_for_each(word, &words) {
		if (strcmp(word, "rw") == 0 || strcmp(word, "ro") == 0 ||
		    strcmp(word, "xattr") == 0 || strcmp(word, "clone_children") == 0 ||
		    strncmp(word, "release_agent=", 14) == 0)
			continue;
		if (strncmp(word, "name=", 5) == 0)
			strlist_add(&kept, "none");
		strlist_add(&kept, word);
	}
	return strlist_join(&kept, ",");
}

static bool known(const struct hierarchies *h, bool v2, const char *options)
{
	for (size_t i = 0; i < h->count; i++)
		if (h->all[i].v2 == v2 && strcmp(h->all[i].options, options) == 0)
			return true;
	return false;
}

/* One line of mountinfo: "ID PARENT DEV ROOT MOUNT OPTIONS [TAGS...] - TYPE SOURCE SUPER". */
static void add_mountinfo_line(struct hierarchies *h, const char *line)
{
	cleanup_with(strlist_release) struct strlist fields = STRLIST_INIT;
	cleanup_free char *options = NULL;
	size_t dash = 6;
	bool v2;

	strlist_split(&fields, line, ' ');
	while (dash < fields.count && strcmp(fields.items[dash], "-") != 0)
		dash++;
	if (dash + 3 >= fields.count || h->count == MAX_HIERARCHIES)
		return;
	v2 = strcmp(fields.items[dash + 1], "cgroup2") == 0;
	if (!v2 && strcmp(fields.items[dash + 1], "cgroup") != 0)
		return;
	options = v2 ? xstrdup("") : controller_options(fields.items[dash + 3]);
	if (known(h, v2, options))
		return;
	h->has_v1 = h->has_v1 || (!v2 && strncmp(options, "none,", 5) != 0);
	h->all[h->count++] = (struct hierarchy){
		.mount = xstrdup(fields.items[4]),
		.options = take_ptr(options),
		.v2 = v2,
	};
}

static int find_hierarchies(struct hierarchies *h, struct error *err)
{
	cleanup_with(strbuf_release) struct strbuf mounts = STRBUF_INIT;
	cleanup_with(strlist_release) struct strlist lines = STRLIST_INIT;
	const char *line;
	int r;

	*h = (struct hierarchies){ .count = 0 };
	r = file_read("/proc/self/mountinfo", 16 << 20, &mounts, err);
	if (r < 0)
		return r;
	strlist_split(&lines, mounts.text, '\n');
	strlist_for_each(line, &lines)
		add_mountinfo_line(h, line);
	if (h->count == 0)
		return error_because(err, &reason_host_unsupported, -ENOENT,
				     "no cgroup hierarchy is mounted on this host");
	return 0;
}

static bool has_controller(const struct hierarchy *hierarchy, const char *name)
{
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;

	strlist_split(&names, hierarchy->options, ',');
	return strlist_has(&names, name);
}

/* A new cpuset has no cpus, and nothing can run in it, until it is given its parent's. */
static void fill_cpuset(const char *parent, const char *folder)
{
	static const char *const files[] = { "cpuset.cpus", "cpuset.mems" };
	cleanup_free char *clone = xasprintf("%s/cgroup.clone_children", folder);

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		cleanup_with(strbuf_release) struct strbuf value = STRBUF_INIT;
		cleanup_free char *from = xasprintf("%s/%s", parent, files[i]);
		cleanup_free char *to = xasprintf("%s/%s", folder, files[i]);

		if (file_read(from, 65536, &value, NULL) == 0)
			(void)file_poke(to, value.text, NULL);
	}
	(void)file_poke(clone, "1", NULL);
}

/* Whether processes are in the v2 group FOLDER itself; in the root they may be. */
static bool is_inhabited(const char *folder)
{
	cleanup_with(strbuf_release) struct strbuf pids = STRBUF_INIT;
	cleanup_free char *type = xasprintf("%s/cgroup.type", folder);
	cleanup_free char *procs = xasprintf("%s/cgroup.procs", folder);

	return file_exists(type) && file_read(procs, 1 << 20, &pids, NULL) == 0 && pids.len > 0;
}

/*
 * Make controllers usable in the groups below FOLDER; those that can't be are left out.  With
 * processes in FOLDER the kernel would take some of them and have the groups below hold threads
 * only.
 */
static void enable_controllers(const char *folder)
{
	cleanup_with(strbuf_release) struct strbuf have = STRBUF_INIT;
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	cleanup_free char *from = xasprintf("%s/cgroup.controllers", folder);
	cleanup_free char *to = xasprintf("%s/cgroup.subtree_control", folder);
	const char *name;

	if (is_inhabited(folder) || file_read(from, 4096, &have, NULL) < 0)
		return;
	strbuf_trim_end(&have);
	strlist_split(&names, have.text, ' ');
	strlist_for_each(name, &names) {
		cleanup_free char *word = xasprintf("+%s", name);

		(void)file_poke(to, word, NULL);
	}
}

static int create_in(const struct hierarchy *hierarchy, const char *path, struct error *err)
{
	cleanup_with(strlist_release) struct strlist parts = STRLIST_INIT;
	cleanup_free char *folder = xstrdup(hierarchy->mount);
	const char *part;

	strlist_split(&parts, path, '/');
	strlist_for_each(part, &parts) {
		cleanup_free char *parent = take_ptr(folder);

		if (hierarchy->v2)
			enable_controllers(parent);
		folder = xasprintf("%s/%s", parent, part);
		if (mkdir(folder, 0755) < 0 && errno != EEXIST)
			return error_sys(err, "cannot make the control group '%s'", folder);
		if (has_controller(hierarchy, "cpuset"))
			fill_cpuset(parent, folder);
	}
	return 0;
}

int cgroup_create(const char *path, struct error *err)
{
	cleanup_with(release_hierarchies) struct hierarchies h = { .count = 0 };
	int r = find_hierarchies(&h, err);

	for (size_t i = 0; r == 0 && i < h.count; i++) {
		/* Somebody who deletes the last cluster may just now remove the group above ours.
		 */
		for (int attempt = 0; attempt < 5; attempt++) {
			r = create_in(&h.all[i], path, err);
			if (r != -ENOENT)
				break;
		}
	}
	return r;
}

int cgroup_enter(const char *path, const char *leaf, pid_t pid, struct error *err)
{
	cleanup_with(release_hierarchies) struct hierarchies h = { .count = 0 };
	cleanup_free char *who = xasprintf("%d", (int)pid);
	int r = find_hierarchies(&h, err);

	for (size_t i = 0; r == 0 && i < h.count; i++) {
		cleanup_free char *procs = NULL;

		if (leaf)
			procs = xasprintf("%s/%s/%s/cgroup.procs", h.all[i].mount, path, leaf);
		if (!procs || !file_exists(procs)) {
			free(procs);
			procs = xasprintf("%s/%s/cgroup.procs", h.all[i].mount, path);
		}
		r = file_poke(procs, who, err);
	}
	return r;
}

static int limit_in(const struct hierarchy *hierarchy, const char *path, unsigned cpus,
		    uint64_t memory_bytes, struct error *err)
{
	const char *cpu_file = hierarchy->v2 ? "cpu.max" : "cpu.cfs_quota_us";
	const char *memory_file = hierarchy->v2 ? "memory.max" : "memory.limit_in_bytes";
	cleanup_free char *cpu = xasprintf("%s/%s/%s", hierarchy->mount, path, cpu_file);
	cleanup_free char *memory = xasprintf("%s/%s/%s", hierarchy->mount, path, memory_file);
	cleanup_free char *quota = NULL;
	cleanup_free char *limit = NULL;
	int r = 0;

	if (hierarchy->v2)
		quota = cpus ? xasprintf("%llu 100000", cpus * 100000ULL) : xstrdup("max 100000");
	else
		quota = cpus ? xasprintf("%llu", cpus * 100000ULL) : xstrdup("-1");
	if (memory_bytes)
		limit = xasprintf("%llu", (unsigned long long)memory_bytes);
	else
		limit = xstrdup(hierarchy->v2 ? "max" : "-1");

	if (file_exists(cpu))
		r = file_poke(cpu, quota, err);
	if (r == 0 && file_exists(memory))
		r = file_poke(memory, limit, err);
	return r;
}

int cgroup_limit(const char *path, unsigned cpus, uint64_t memory_bytes, struct error *err)
{
	cleanup_with(release_hierarchies) struct hierarchies h = { .count = 0 };
	int r = find_hierarchies(&h, err);

	for (size_t i = 0; r == 0 && i < h.count; i++)
		r = limit_in(&h.all[i], path, cpus, memory_bytes, err);
	return r;
}

int cgroup_delegate(const char *path, uid_t uid, gid_t gid, struct error *err)
{
	static const char *const files[] = { "", "/cgroup.procs", "/tasks", "/cgroup.threads",
					     "/cgroup.subtree_control" };
	cleanup_with(release_hierarchies) struct hierarchies h = { .count = 0 };
	int r = find_hierarchies(&h, err);

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

/* The hierarchy in which processes are looked for: v2 if it has controllers, else any of v1's. */
static const struct hierarchy *tracking(const struct hierarchies *h)
{
	for (size_t i = 0; i < h->count; i++)
		if (h->all[i].v2 != h->has_v1 &&
		    (h->all[i].v2 || has_controller(&h->all[i], "pids")))
			return &h->all[i];
	return &h->all[0];
}

typedef int (*group_fn)(const char *folder, void *data);

/* Call FN for every group below FOLDER, deepest first, and then for FOLDER itself. */
static int walk(const char *folder, group_fn fn, void *data)
{
	cleanup_dir DIR *dir = opendir(folder);
	struct dirent *entry;

	if (!dir)
		return errno == ENOENT ? 0 : -errno;
	while ((entry = readdir(dir))) {
		cleanup_free char *below = NULL;
		int r;

		if (entry->d_type != DT_DIR || entry->d_name[0] == '.')
			continue;
		below = xasprintf("%s/%s", folder, entry->d_name);
		r = walk(below, fn, data);
		if (r < 0)
			return r;
	}
	return fn(folder, data);
}

struct kill_work {
	int signal; /* 0: only count */
	unsigned found;
};

static int signal_group(const char *folder, void *data)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_with(strlist_release) struct strlist pids = STRLIST_INIT;
	cleanup_free char *procs = xasprintf("%s/cgroup.procs", folder);
	struct kill_work *work = data;
	const char *pid;

	if (file_read(procs, 1 << 20, &text, NULL) < 0)
		return 0;
	strlist_split(&pids, text.text, '\n');
	strlist_for_each(pid, &pids) {
		unsigned long long number;

		/* 0 stands for a process that our pid namespace can't see. */
		if (parse_number(pid, 1, INT32_MAX, &number, NULL) < 0)
			continue;
		work->found++;
		if (work->signal)
			(void)kill((pid_t)number, work->signal);
	}
	return 0;
}

bool cgroup_has_processes(const char *path)
{
	cleanup_with(release_hierarchies) struct hierarchies h = { .count = 0 };
	cleanup_free char *folder = NULL;
	struct kill_work work = { 0 };

	if (find_hierarchies(&h, NULL) < 0)
		return false;
	folder = xasprintf("%s/%s", tracking(&h)->mount, path);
	(void)walk(folder, signal_group, &work);
	return work.found > 0;
}

static int set_frozen(const char *path, bool frozen, struct error *err)
{
	cleanup_with(release_hierarchies) struct hierarchies h = { .count = 0 };
	int r = find_hierarchies(&h, err);

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

/* Add the file NAME of the group PATH to TEXT. */
static bool read_file(const struct hierarchy *hierarchy, const char *path, const char *name,
		      struct strbuf *text)
{
	cleanup_free char *file = xasprintf("%s/%s/%s", hierarchy->mount, path, name);

	if (file_read(file, 65536, text, NULL) < 0)
		return false;
	strbuf_trim_end(text);
	return true;
}

/* The number behind KEY in TEXT, lines of "KEY NUMBER"; 0 if there is none. */
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
	cleanup_with(release_hierarchies) struct hierarchies h = { .count = 0 };

	if (find_hierarchies(&h, NULL) < 0)
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

/* New processes may beat a freeze, which then has to be asked for again (v1). */
int cgroup_freeze(const char *path, bool frozen, struct error *err)
{
	int64_t deadline = clock_now_ms() + 10000;
	int r;

	for (;;) {
		r = set_frozen(path, frozen, err);
		if (r < 0 || !frozen || cgroup_is_frozen(path))
			return r;
		if (clock_now_ms() > deadline)
			break;
		clock_rest_ms(5);
	}
	(void)set_frozen(path, false, NULL);
	return error_set(err, -ETIMEDOUT, "the processes of '%s' can't all be frozen", path);
}

uint64_t cgroup_memory_bytes(const char *path)
{
	cleanup_with(release_hierarchies) struct hierarchies h = { .count = 0 };

	if (find_hierarchies(&h, NULL) < 0)
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

static int thaw_group(const char *folder, arg_unused void *data)
{
	cleanup_free char *state = xasprintf("%s/freezer.state", folder);

	(void)file_poke(state, "THAWED", NULL);
	return 0;
}

/* A frozen process does not die before it is thawed (v1), and a container in PATH may be frozen by
 * itself. */
static void thaw_all(const struct hierarchies *h, const char *path)
{
	for (size_t i = 0; i < h->count; i++) {
		cleanup_free char *folder = xasprintf("%s/%s", h->all[i].mount, path);

		if (has_controller(&h->all[i], "freezer"))
			(void)walk(folder, thaw_group, NULL);
	}
}

int cgroup_kill(const char *path, struct error *err)
{
	cleanup_with(release_hierarchies) struct hierarchies h = { .count = 0 };
	int64_t deadline = clock_now_ms() + 10000;
	cleanup_free char *folder = NULL;
	int r = find_hierarchies(&h, err);

	if (r < 0)
		return r;
	thaw_all(&h, path);
	folder = xasprintf("%s/%s", tracking(&h)->mount, path);
	for (;;) {
		struct kill_work work = { .signal = SIGKILL };

		(void)walk(folder, signal_group, &work);
		if (work.found == 0)
			return 0;
		if (clock_now_ms() > deadline)
			return error_set(err, -ETIMEDOUT, "%u processes of '%s' do not end",
					 work.found, path);
		clock_rest_ms(5);
	}
}

static int remove_group(const char *folder, void *data)
{
	int64_t *deadline = data;

	/* The kernel lets go of a group a moment after its last process. */
	while (rmdir(folder) < 0) {
		if (errno == ENOENT)
			return 0;
		if (errno != EBUSY || clock_now_ms() > *deadline)
			return -errno;
		clock_rest_ms(5);
	}
	return 0;
}

int cgroup_remove(const char *path, struct error *err)
{
	cleanup_with(release_hierarchies) struct hierarchies h = { .count = 0 };
	int64_t deadline = clock_now_ms() + 5000;
	int r = find_hierarchies(&h, err);

	for (size_t i = 0; r == 0 && i < h.count; i++) {
		cleanup_free char *folder = xasprintf("%s/%s", h.all[i].mount, path);

		r = walk(folder, remove_group, &deadline);
		if (r < 0) {
			errno = -r;
			return error_sys(err, "cannot remove the control group '%s'", folder);
		}
	}
	return r;
}

void cgroup_remove_if_empty(const char *path)
{
	cleanup_with(release_hierarchies) struct hierarchies h = { .count = 0 };

	if (find_hierarchies(&h, NULL) < 0)
		return;
	for (size_t i = 0; i < h.count; i++) {
		cleanup_free char *folder = xasprintf("%s/%s", h.all[i].mount, path);

		(void)rmdir(folder);
	}
}

int cgroup_mount(const char *folder, struct error *err)
{
	cleanup_with(release_hierarchies) struct hierarchies h = { .count = 0 };
	const unsigned long flags = MS_NOSUID | MS_NODEV | MS_NOEXEC;
	int r = find_hierarchies(&h, err);

	if (r < 0)
		return r;
	if (!h.has_v1) {
		if (mount("cgroup", folder, "cgroup2", flags, NULL) < 0)
			return error_sys(err, "cannot mount the node's cgroup hierarchy");
		return 0;
	}
	if (mount("cgroup", folder, "tmpfs", flags, "mode=755,size=64k") < 0)
		return error_sys(err, "cannot mount a folder for the node's cgroups");
	for (size_t i = 0; i < h.count; i++) {
		cleanup_free char *target = NULL;

		/* Next to v1 controllers, v2 has nothing to give, and programs take its presence
		 * for a v2 host. */
		if (h.all[i].v2)
			continue;
		target = xasprintf("%s%s", folder, strrchr(h.all[i].mount, '/'));
		if (mkdir(target, 0755) < 0 && errno != EEXIST)
			return error_sys(err, "cannot make the folder '%s'", target);
		if (mount("cgroup", target, "cgroup", flags, h.all[i].options) < 0)
			return error_sys(err, "cannot mount the node's cgroup controllers '%s'",
					 h.all[i].options);
	}
	return 0;
}
