/* The CPUs and the memory that a native node sees. */

#include "driver/native-views.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/strbuf.h"
#include "host/namespace.h"

static const struct {
	const char *name;
	const char *over; /* below the node's root */
} views[] = {
	{ "meminfo", "/proc/meminfo" },
	{ "cpuinfo", "/proc/cpuinfo" },
};

static char *meminfo(uint64_t memory_bytes)
{
	unsigned long long kilobytes = memory_bytes / 1024;

	return xasprintf("MemTotal:       %llu kB\n"
			 "MemFree:        %llu kB\n"
			 "MemAvailable:   %llu kB\n"
			 "Buffers:        0 kB\n"
			 "Cached:         0 kB\n"
			 "SwapCached:     0 kB\n"
			 "Active:         0 kB\n"
			 "Inactive:       0 kB\n"
			 "SwapTotal:      0 kB\n"
			 "SwapFree:       0 kB\n"
			 "Shmem:          0 kB\n"
			 "SReclaimable:   0 kB\n"
			 "HugePages_Total: 0\n"
			 "HugePages_Free: 0\n"
			 "Hugepagesize:   2048 kB\n",
			 kilobytes, kilobytes, kilobytes);
}

/* Add the lines of one processor in BLOCK, with its number replaced by N. */
static void add_processor(struct strbuf *out, const char *block, size_t len, unsigned n)
{
	const char *end = block + len;

	while (block < end) {
		size_t line = (size_t)((const char *)memchr(block, '\n', (size_t)(end - block))
					       ?: end) -
			      (size_t)block;

		if (strncmp(block, "processor", 9) == 0)
			strbuf_addf(out, "processor\t: %u", n);
		else
			strbuf_add_mem(out, block, line);
		strbuf_add_char(out, '\n');
		block += line + 1;
	}
}

char *native_views_cpuinfo(const char *text, const struct cpus *cpus)
{
	struct strbuf out = STRBUF_INIT;
	const char *block = text;

	for (size_t i = 0; i < cpus->count; i++) {
		const char *end = strstr(block, "\n\n");
		size_t len = end ? (size_t)(end - block) : strlen(block);

		add_processor(&out, block, len, cpus->ids[i]);
		strbuf_add_char(&out, '\n');
		/* A node may be given more CPUs than the host has: start again with the first. */
		block = end && end[2] ? end + 2 : text;
	}
	return strbuf_take(&out);
}

static int put_view(const char *dir, const char *name, const char *text, struct error *err)
{
	cleanup_free char *path = xasprintf("%s/%s", dir, name);

	if (text)
		return file_put(path, text, strlen(text), 0444, err);
	(void)unlink(path);
	return 0;
}

int native_views_write(const char *dir, const struct native_cpus *cpus, uint64_t memory_bytes,
		       struct error *err)
{
	cleanup_with(strbuf_release) struct strbuf host = STRBUF_INIT;
	cleanup_free char *memory = memory_bytes ? meminfo(memory_bytes) : NULL;
	cleanup_free char *info = NULL;
	int r = file_make_dirs(dir, 0755, err);

	if (r == 0 && cpus->ids.count > 0)
		r = file_read("/proc/cpuinfo", 16 << 20, &host, err);
	if (r < 0)
		return r;
	if (cpus->ids.count > 0)
		info = native_views_cpuinfo(host.text, &cpus->ids);
	r = put_view(dir, "meminfo", memory, err);
	if (r == 0)
		r = put_view(dir, "cpuinfo", info, err);
	return r;
}

/*
 * Make the directory of processor N in DIR with the files that programs use to count processors. If
 * the host does not have the processor (not IS_REAL), the directory is empty: the kubelet counts
 * it, but does not put it into a cpuset, which the kernel would refuse.
 */
static int make_processor(const char *dir, unsigned n, bool is_real, struct error *err)
{
	cleanup_free char *own = xasprintf("%s/cpu%u", dir, n);
	cleanup_free char *topology = xasprintf("%s/topology", own);
	cleanup_free char *number = xasprintf("%u\n", n);
	int r = file_make_dirs(is_real ? topology : own, 0755, err);

	if (r < 0 || !is_real)
		return r;
	r = put_view(own, "online", "1\n", err);
	if (r == 0)
		r = put_view(topology, "core_id", number, err);
	if (r == 0)
		r = put_view(topology, "physical_package_id", "0\n", err);
	return r;
}

/*
 * The kubelet counts processors in the NUMA nodes of /sys or, without any, in
 * /sys/devices/system/cpu.  So hide the NUMA nodes and replace the latter directory.
 */
static int mount_processors(const char *root, const struct native_cpus *cpus, struct error *err)
{
	cleanup_free char *dir = xasprintf("%s/sys/devices/system/cpu", root);
	cleanup_free char *nodes = xasprintf("%s/sys/devices/system/node", root);
	cleanup_free char *list = cpus_print(&(struct cpus){ cpus->ids.ids, cpus->real });
	cleanup_free char *online = xasprintf("%s\n", list);
	int r;

	if (mount("cpu", dir, "tmpfs", MS_NOSUID | MS_NODEV, "mode=755,size=16m") < 0 ||
	    (file_exists(nodes) &&
	     mount("node", nodes, "tmpfs", MS_NOSUID | MS_NODEV, "mode=755,size=4k") < 0))
		return error_sys(err, "cannot mount over the node's processors");
	r = put_view(dir, "online", online, err);
	if (r == 0)
		r = put_view(dir, "possible", online, err);
	if (r == 0)
		r = put_view(dir, "present", online, err);
	for (size_t i = 0; r == 0 && i < cpus->ids.count; i++)
		r = make_processor(dir, cpus->ids.ids[i], i < cpus->real, err);
	return r;
}

int native_views_mount(const char *from, const char *root, const struct native_cpus *cpus,
		       struct error *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(views); i++) {
		cleanup_free char *source = xasprintf("%s/%s", from, views[i].name);
		cleanup_free char *target = xasprintf("%s%s", root, views[i].over);

		if (file_exists(source) && mount(source, target, NULL, MS_BIND, NULL) < 0)
			return error_sys(err, "cannot mount over the node's '%s'", views[i].over);
	}
	return cpus->ids.count > 0 ? mount_processors(root, cpus, err) : 0;
}

struct cover {
	int trees[ARRAY_SIZE(views)]; /* -1: show the kernel's file */
	const struct native_cpus *cpus;
};

/* In the node's namespaces: replace the mounted views and processors. */
static int cover_anew(const void *arg)
{
	static const char *const dirs[] = { "/sys/devices/system/cpu", "/sys/devices/system/node" };
	const struct cover *cover = arg;

	/* This fails if nothing is mounted there, which is no error. */
	for (size_t i = 0; i < ARRAY_SIZE(dirs); i++)
		(void)umount2(dirs[i], MNT_DETACH);
	for (size_t i = 0; i < ARRAY_SIZE(views); i++) {
		(void)umount2(views[i].over, MNT_DETACH);
		if (cover->trees[i] >= 0 && move_mount(cover->trees[i], "", AT_FDCWD, views[i].over,
						       MOVE_MOUNT_F_EMPTY_PATH) < 0)
			return -errno;
	}
	return cover->cpus->ids.count > 0 ? mount_processors("", cover->cpus, NULL) : 0;
}

int native_views_renew(const char *dir, pid_t pid, const struct native_cpus *cpus,
		       uint64_t memory_bytes, struct error *err)
{
	cleanup_free char *user = xasprintf("/proc/%d/ns/user", (int)pid);
	cleanup_fd int userns = open(user, O_RDONLY | O_CLOEXEC);
	struct cover cover = { .trees = { -1, -1 }, .cpus = cpus };
	int r;

	if (userns < 0)
		return error_sys(err, "cannot open '%s'", user);
	r = native_views_write(dir, cpus, memory_bytes, err);
	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(views); i++) {
		cleanup_free char *source = xasprintf("%s/%s", dir, views[i].name);

		if (file_exists(source))
			r = namespace_map_tree(source, userns, true, &cover.trees[i], err);
	}
	if (r == 0)
		r = namespace_call(pid, cover_anew, &cover, cover.trees, ARRAY_SIZE(cover.trees),
				   err);
	for (size_t i = 0; i < ARRAY_SIZE(views); i++)
		cleanup_fd_(&cover.trees[i]);
	return r < 0 ? error_prefix(err, r, "cannot update the CPUs and memory that the node sees")
		     : 0;
}
