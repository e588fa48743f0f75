/*
 * The CPUs that a control group may run on.
 *
 * On v1 every group has its own set, which must be a subset of its parent's.  A change therefore
 * walks all groups: on the way down, each set is widened to hold the old and the new CPUs; on the
 * way up, it is narrowed to the new CPUs.  On v2, groups inherit the set of their parent.
 */

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "cgroup/cgroup-find.h"
#include "cgroup/cgroup-walk.h"
#include "cgroup/cgroup.h"

/* How long to retry when groups are made during the walk. */
#define PIN_MS 2000

#define LIST_BYTES 65536

/* The hierarchy that has cpusets for the group PATH; NULL if none has. */
static const struct cgroup_hierarchy *find_cpusets(const struct cgroup_hierarchies *h,
						   const char *path)
{
	for (size_t i = 0; i < h->count; i++) {
		cleanup_free char *file = xasprintf("%s/%s/cpuset.cpus", h->all[i].mount, path);

		if (file_exists(file))
			return &h->all[i];
	}
	return NULL;
}

static void read_above(const struct cgroup_hierarchy *hierarchy, const char *path, struct cpus *ret)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_free char *file = xasprintf("%s/%s/../%s", hierarchy->mount, path,
					    hierarchy->v2 ? "cpuset.cpus.effective"
							  : "cpuset.effective_cpus");

	if (file_read(file, LIST_BYTES, &text, NULL) < 0 || cpus_parse(text.text, ret) < 0)
		*ret = CPUS_INIT;
}

void cgroup_cpus_above(const char *path, struct cpus *ret)
{
	cleanup_with(cgroup_hierarchies_release) struct cgroup_hierarchies h = { .count = 0 };
	const struct cgroup_hierarchy *hierarchy = NULL;

	*ret = CPUS_INIT;
	if (cgroup_find_hierarchies(&h, NULL) == 0)
		hierarchy = find_cpusets(&h, path);
	if (hierarchy)
		read_above(hierarchy, path, ret);
}

struct pinning {
	const char *wider; /* the set for the way down */
	const char *cpus;  /* the set for the way up */
	int problem;       /* why a group refused its set, as a negative errno; or 0 */
};

static int write_set(int group, const char *cpus)
{
	cleanup_fd int fd = openat(group, "cpuset.cpus", O_WRONLY | O_CLOEXEC);

	return fd < 0 || write(fd, cpus, strlen(cpus)) < 0 ? -errno : 0;
}

static int widen_group(int group, void *data)
{
	const struct pinning *pinning = data;

	(void)write_set(group, pinning->wider);
	return 0;
}

static int narrow_group(int group, void *data)
{
	struct pinning *pinning = data;
	int r = write_set(group, pinning->cpus);

	if (r < 0)
		pinning->problem = r;
	return 0;
}

/* Set CPUS for DIR and all groups below it.  WIDER includes CPUS and every CPU in use there now. */
static int pin_tree(const char *dir, const char *cpus, const char *wider)
{
	int64_t deadline = clock_now_ms() + PIN_MS;

	for (;;) {
		struct pinning pinning = { .wider = wider, .cpus = cpus };
		cleanup_with(cgroup_walk_release) struct cgroup_walk walk = { .enter = widen_group,
									      .visit = narrow_group,
									      .data = &pinning };
		int r = cgroup_walk(&walk, dir);

		r = r < 0 ? r : pinning.problem;
		if (r == 0 || !clock_poll(deadline, CGROUP_POLL_MS))
			return r;
	}
}

int cgroup_pin(const char *path, const struct cpus *cpus, struct error *err)
{
	cleanup_with(cgroup_hierarchies_release) struct cgroup_hierarchies h = { .count = 0 };
	cleanup_with(cpus_release) struct cpus above = CPUS_INIT;
	cleanup_free char *wider = NULL;
	cleanup_free char *list = cpus_print(cpus);
	cleanup_free char *dir = NULL;
	const struct cgroup_hierarchy *hierarchy;
	int r = cgroup_find_hierarchies(&h, err);

	if (r < 0)
		return r;
	hierarchy = find_cpusets(&h, path);
	if (!hierarchy)
		return 0;
	dir = xasprintf("%s/%s", hierarchy->mount, path);
	read_above(hierarchy, path, &above);
	wider = cpus_print(&above);
	/* Some kernels refuse to clear the set of a group with processes,
	 * so WIDER stands for all. */
	if (hierarchy->v2) {
		cleanup_free char *file = xasprintf("%s/cpuset.cpus", dir);

		return file_poke(file, cpus->count > 0 ? list : wider, err);
	}
	r = pin_tree(dir, cpus->count > 0 ? list : wider, wider);
	errno = -r;
	return r < 0 ? error_sys(err, "cannot set the CPUs of '%s'", dir) : 0;
}
