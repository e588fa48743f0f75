/*
 * The owner of files that a node makes in writable mounts (--mount without :ro).
 *
 * In such a mount, the node's root is mapped to the owner of the mounted directory or file: files
 * made by the node's root are owned by that user, and the node's root can change that user's files.
 * All other users of the node have unused ids of the host.  Files of other users of the host appear
 * as owned by nobody; the node can read those that are readable for all, and change none.
 * Set-user-ID bits and capabilities that a node leaves on the host therefore give no more rights
 * than the owner of the directory has.
 *
 * If the owner were root, they would give all rights to anybody who can run the file.  So a
 * directory owned by root can be mounted writable only if other users cannot reach it, or if the
 * host's mount ignores such bits (nosuid).  Owners are then the same on both sides, as in all
 * read-only mounts.
 */
#pragma once

#include <sys/types.h>

#include "base/user.h"

struct mount_owner {
	bool same;        /* owners are the same on both sides */
	struct user user; /* otherwise, the user that the node's root is mapped to */
	gid_t gid;        /* and the group that the group of the node's root is mapped to */
};

#define MOUNT_OWNER_INIT ((struct mount_owner){ 0 })

/* Determine the owner for a writable mount of PATH, open as FD; -EINVAL with reason_usage and a
 * hint if it must not be mounted writable. */
int mount_owner_find(int fd, const char *path, struct mount_owner *ret, struct error *err);

/* Check whether PATH can be mounted writable; errors as in mount_owner_find(). */
int mount_owner_check(const char *path, struct error *err);

void mount_owner_release(struct mount_owner *owner);

/* An id on this host and the corresponding id in the node. */
struct mount_id {
	unsigned host;
	unsigned node;
};

/* Make a map for namespace_new_mapped_user(): IDS, and for all other ids of the node, which begin
 * at BASE on the host, the ids of slot 0.  The caller frees it. */
char *mount_owner_map(const struct mount_id *ids, size_t count, unsigned base) must_check;

/* The maps of users and groups for OWNER, which is not `same`; the caller frees them. */
char *mount_owner_users(const struct mount_owner *owner, unsigned base) must_check;
char *mount_owner_groups(const struct mount_owner *owner, unsigned base) must_check;
