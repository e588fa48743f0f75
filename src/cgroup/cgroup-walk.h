/*
 * Walking a control group and all groups below it, for cgroup-kill.c and cgroup-cpus.c.
 *
 * A node's root can make groups of any number, depth and name below the node's group.  The walk
 * therefore uses at most two descriptors and no paths.
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
	int64_t remove_until; /* not 0: remove visited groups, waiting until then for busy ones */

	/* Private to the walk. */
	DIR *dir;
	struct {
		char *name;    /* the group that was entered */
		long position; /* where to continue in its parent's directory */
	} * levels;
	size_t depth;
	size_t room;
};

/* Walk the group at the path TOP; succeeds if it is missing. */
int cgroup_walk(struct cgroup_walk *walk, const char *top);
void cgroup_walk_release(struct cgroup_walk *walk);
