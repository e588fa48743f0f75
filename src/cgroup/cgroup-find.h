/* The control group hierarchies of this host, for the other files of this directory. */
#pragma once

#include "base/error.h"

#define CGROUP_HIERARCHIES_MAX 24

/* The interval for checking whether the kernel has carried out a change. */
#define CGROUP_POLL_MS 5

struct cgroup_hierarchy {
	char *mount;   /* its mount point on the host */
	char *options; /* its mount options, such as "cpu,cpuacct"; empty on v2 */
	bool v2;
};

struct cgroup_hierarchies {
	struct cgroup_hierarchy all[CGROUP_HIERARCHIES_MAX];
	size_t count;
	bool has_v1; /* controllers are on v1, so a v2 hierarchy is not used */
};

/* Find the hierarchies in /proc/self/mountinfo; released by cgroup_hierarchies_release(). */
int cgroup_find_hierarchies(struct cgroup_hierarchies *h, struct error *err);

void cgroup_hierarchies_release(struct cgroup_hierarchies *h);

/* Whether the v1 hierarchy has the controller NAME. */
bool cgroup_has_controller(const struct cgroup_hierarchy *hierarchy, const char *name);
