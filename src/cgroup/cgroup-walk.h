/*
 * A walk through a control group and those below it: for cgroup-kill.c and cgroup-cpus.c.
 *
 * The groups below a node's are made by the node's root, as many and as deep as they like and with
 * any name, so they are walked with two descriptors at most and without paths.
 */
#pragma once

#include <dirent.h>
#include <stddef.h>
#include <stdint.h>

struct cgroup_walk {
	/* Called for every group, before and after those below it; both may be NULL.  A negative
	 * return ends the walk. */
	int (*enter)(int group, void *data);
	int (*visit)(int group, void *data);
	void *data;
	int64_t remove_until; /* not 0: remove groups that were visited, waiting until then */

	/* The walk's own. */
	DIR *dir;
	struct {
		char *name;    /* of the group that was entered */
		long position; /* of what comes after it in the group above */
	} * levels;
	size_t depth;
	size_t room;
};

/* Walk through the group at the path TOP; succeeds if there is none. */
int cgroup_walk(struct cgroup_walk *walk, const char *top);
void cgroup_walk_release(struct cgroup_walk *walk);
