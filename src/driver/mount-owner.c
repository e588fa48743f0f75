/* The owner of files that a node makes in writable mounts. */

#include "driver/mount-owner.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/below.h"
#include "base/cleanup.h"
#include "base/strbuf.h"
#include "host/namespace.h"

/* The kernel accepts maps of at most 340 lines and one page. */
#define GROUPS_MOST 100

/* Whether only root can enter one of the parent directories of FD. */
static bool is_out_of_reach(int fd)
{
	cleanup_free char *opened = xasprintf("/proc/self/fd/%d", fd);
	cleanup_free char *real = realpath(opened, NULL);
	char *slash;

	while (real && (slash = strrchr(real, '/')) && slash > real) {
		struct stat st;

		*slash = '\0';
		if (stat(real, &st) == 0 && st.st_uid == 0 && !(st.st_mode & 0011))
			return true;
	}
	return false;
}

static bool ignores_set_ids(int fd)
{
	struct statvfs fs;

	return fstatvfs(fd, &fs) == 0 && (fs.f_flag & ST_NOSUID);
}

static int refuse_roots(const char *path, struct error *err)
{
	(void)error_because(
		err, &reason_usage, -EINVAL,
		"'%s' belongs to root, and other users of this host can reach it: nodes "
		"could leave programs there that run with root's rights",
		path);
	return error_hint(err, -EINVAL,
			  "mount a directory of another user, put it below a directory "
			  "that only root can enter, or mount it with ':ro'");
}

static int refuse_group(const char *path, const struct stat *st, struct error *err)
{
	(void)error_because(err, &reason_usage, -EINVAL,
			    "the group of '%s' is %u, and its owner, user %u, is not in that group",
			    path, st->st_gid, st->st_uid);
	return error_hint(err, -EINVAL,
			  "change it to a group of its owner with 'chgrp -R GROUP %s', or mount it "
			  "with ':ro'",
			  path);
}

int mount_owner_find(int fd, const char *path, struct mount_owner *ret, struct error *err)
{
	struct mount_owner owner = MOUNT_OWNER_INIT;
	struct stat st;

	if (fstat(fd, &st) < 0)
		return error_sys(err, "cannot stat '%s'", path);
	/* For sockets and devices, owners do not matter: nothing can be created in them. */
	if (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode)) {
		*ret = (struct mount_owner){ .same = true };
		return 0;
	}
	if (st.st_uid == 0) {
		if (!ignores_set_ids(fd) && !is_out_of_reach(fd))
			return refuse_roots(path, err);
		*ret = (struct mount_owner){ .same = true };
		return 0;
	}
	user_find_by_uid(st.st_uid, &owner.user);
	owner.gid = st.st_gid;
	if (!user_is_in(&owner.user, st.st_gid)) {
		mount_owner_release(&owner);
		return refuse_group(path, &st, err);
	}
	*ret = owner;
	return 0;
}

int mount_owner_check(const char *path, struct error *err)
{
	cleanup_with(mount_owner_release) struct mount_owner owner = MOUNT_OWNER_INIT;
	cleanup_fd int fd = -1;
	int r = below_follow(path, &STRLIST_INIT, &fd, err);

	return r < 0 ? r : mount_owner_find(fd, path, &owner, err);
}

void mount_owner_release(struct mount_owner *owner)
{
	user_release(&owner->user);
	*owner = MOUNT_OWNER_INIT;
}

static int compare_ids(const void *a, const void *b)
{
	unsigned one = *(const unsigned *)a;
	unsigned two = *(const unsigned *)b;

	return one < two ? -1 : one > two;
}

char *mount_owner_map(const struct mount_id *ids, size_t count, unsigned base)
{
	cleanup_free unsigned *taken = xcalloc(2 * count + 1, sizeof(*taken));
	struct strbuf map = STRBUF_INIT;
	size_t taken_count = 0;
	unsigned next = 0;

	for (size_t i = 0; i < count; i++) {
		strbuf_addf(&map, "%u %u 1\n", ids[i].host, base + ids[i].node);
		taken[taken_count++] = ids[i].node;
		/* The owner of the mounted directory may itself be a user of a node. */
		if (ids[i].host >= NAMESPACE_UID_FIRST &&
		    ids[i].host - NAMESPACE_UID_FIRST < NAMESPACE_IDS)
			taken[taken_count++] = ids[i].host - NAMESPACE_UID_FIRST;
	}
	taken[taken_count++] = NAMESPACE_IDS;
	qsort(taken, taken_count, sizeof(*taken), compare_ids);
	for (size_t i = 0; i < taken_count; i++) {
		if (taken[i] > next)
			strbuf_addf(&map, "%u %u %u\n", NAMESPACE_UID_FIRST + next, base + next,
				    taken[i] - next);
		next = MAX(next, taken[i] + 1);
	}
	return strbuf_take(&map);
}

char *mount_owner_users(const struct mount_owner *owner, unsigned base)
{
	return mount_owner_map(&(struct mount_id){ owner->user.uid, 0 }, 1, base);
}

char *mount_owner_groups(const struct mount_owner *owner, unsigned base)
{
	const struct user *user = &owner->user;
	struct mount_id ids[GROUPS_MOST + 1] = { { owner->gid, 0 } };
	size_t count = 1;

	/* Files of the owner may have any of the owner's groups. */
	for (size_t i = 0; i < user->group_count && count <= GROUPS_MOST; i++)
		if (user->groups[i] != owner->gid && user->groups[i] > 0 &&
		    user->groups[i] < NAMESPACE_IDS)
			ids[count++] = (struct mount_id){ user->groups[i], user->groups[i] };
	return mount_owner_map(ids, count, base);
}
