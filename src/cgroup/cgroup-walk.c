/* Walking a tree of control groups. */

#include "cgroup/cgroup-walk.h"

#include <fcntl.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "cgroup/cgroup-find.h"

void cgroup_walk_release(struct cgroup_walk *walk)
{
	for (size_t i = 0; i < walk->depth; i++)
		free(walk->levels[i].name);
	free(walk->levels);
	cleanup_dir_(&walk->dir);
}

/* Make the group NAME in the directory FROM the current one. */
static int walk_to(struct cgroup_walk *walk, int from, const char *name)
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

static int walk_down(struct cgroup_walk *walk, const char *name)
{
	cleanup_free char *copy = xstrdup(name);
	long position = telldir(walk->dir);
	int r = walk_to(walk, dirfd(walk->dir), copy);

	/* The group may have been removed in the meantime. */
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	if (walk->depth == walk->room) {
		walk->room = walk->room ? walk->room * 2 : 16;
		walk->levels = xrealloc(walk->levels, walk->room, sizeof(*walk->levels));
	}
	walk->levels[walk->depth].name = take_ptr(copy);
	walk->levels[walk->depth++].position = position;
	return walk->enter ? walk->enter(dirfd(walk->dir), walk->data) : 0;
}

/* Remove the group NAME.  The kernel keeps it busy for a moment after its last process ended. */
static int remove_empty(int parent, const char *name, int64_t deadline)
{
	while (unlinkat(parent, name, AT_REMOVEDIR) < 0) {
		if (errno == ENOENT)
			return 0;
		if (errno != EBUSY)
			return -errno;
		if (!clock_poll(deadline, CGROUP_POLL_MS))
			return -EBUSY;
	}
	return 0;
}

/* Groups cannot be moved to another parent, so ".." is the group we came from. */
static int walk_up(struct cgroup_walk *walk)
{
	cleanup_free char *name = take_ptr(walk->levels[--walk->depth].name);
	int r = walk_to(walk, dirfd(walk->dir), "..");

	if (r < 0)
		return r;
	if (walk->remove_until)
		return remove_empty(dirfd(walk->dir), name, walk->remove_until);
	seekdir(walk->dir, walk->levels[walk->depth].position);
	return 0;
}

int cgroup_walk(struct cgroup_walk *walk, const char *top)
{
	struct dirent *entry;
	int r = walk_to(walk, AT_FDCWD, top);

	if (r < 0)
		return r == -ENOENT ? 0 : r;
	if (walk->enter)
		r = walk->enter(dirfd(walk->dir), walk->data);
	if (r < 0)
		return r;
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
	return walk->remove_until ? remove_empty(AT_FDCWD, top, walk->remove_until) : 0;
}
