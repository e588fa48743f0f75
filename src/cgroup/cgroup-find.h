/* Which control group hierarchies this host has: for cgroup.c and cgroup-kill.c. */
#pragma once

#include "base/error.h"

#define CGROUP_HIERARCHIES_MAX 24

/* How often it is looked whether the kernel has done with a group what it was told to. */
#define CGROUP_POLL_MS 5

struct cgroup_hierarchy {
	char *mount;   /* where the host has it */
	char *options; /* what tells it from the others when mounting: "cpu,cpuacct"; empty on v2 */
	bool v2;
};

struct cgroup_hierarchies {
	struct cgroup_hierarchy all[CGROUP_HIERARCHIES_MAX];
	size_t count;
	bool has_v1; /* controllers are on v1, so v2 is only along for the ride */
};

/* Find the hierarchies in /proc/self/mountinfo; released by cgroup_hierarchies_release(). */
int cgroup_find_hierarchies(struct cgroup_hierarchies *h, struct error *err);

void cgroup_hierarchies_release(struct cgroup_hierarchies *h);

/* Whether the v1 hierarchy has the controller NAME. */
bool cgroup_has_controller(const struct cgroup_hierarchy *hierarchy, const char *name);
