/*
 * Who a node's root is on this host in what it may write of it (--mount without :ro).
 *
 * It is the owner of the mounted directory or file: what the node's root makes belongs to that
 * user, and what belongs to them the node's root may change.  All other users of the node have ids
 * of the host that nobody else has.  Files of other users of the host belong to nobody in the node,
 * which can read what everybody can and change nothing.  So set-user-ID bits and capabilities that
 * a node leaves on the host give nobody what the owner of the directory does not have.
 *
 * As root's they would give everything to everybody who can run them.  Therefore a directory of
 * root's can be mounted for writing only where other users cannot reach it, or where the host's
 * mount ignores such bits (nosuid); owners are then the same on both sides, as they are in all that
 * is mounted read-only.
 */
#pragma once

#include <sys/types.h>

#include "base/user.h"

struct mount_owner {
	bool same;        /* owners are the same on both sides */
	struct user user; /* else who the node's root is */
	gid_t gid;        /* and which group its group is */
};

#define MOUNT_OWNER_INIT ((struct mount_owner){ 0 })

/* Find out for the writable mount of PATH, opened as FD; -EINVAL with reason_usage and what to do
 * if it can't be written by a node. */
int mount_owner_find(int fd, const char *path, struct mount_owner *ret, struct error *err);

/* Likewise for PATH alone. */
int mount_owner_check(const char *path, struct error *err);

void mount_owner_release(struct mount_owner *owner);

/* One id on this host, and the one that it is in the node. */
struct mount_id {
	unsigned host;
	unsigned node;
};

/* A map for namespace_new_mapped_user(), for the caller to free: IDS, and for all others of the
 * node the host's id that the node, whose ids begin at BASE, has for them itself. */
char *mount_owner_map(const struct mount_id *ids, size_t count, unsigned base) must_check;

/* The maps of users and groups of OWNER, which is not `same`. */
char *mount_owner_users(const struct mount_owner *owner, unsigned base) must_check;
char *mount_owner_groups(const struct mount_owner *owner, unsigned base) must_check;
