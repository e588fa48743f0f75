/*
 * Mounts of the host's directories and files in a native node (--mount), with mapped owners.  In
 * read-only mounts, user 1000 of the host is user 1000 of the node; mount-owner.h describes
 * writable ones.
 */
#pragma once

#include "driver/driver.h"

struct native_mounts {
	const struct node_mount *specs; /* owned by the node_spec */
	size_t count;
	int *trees; /* a detached mount for each of SPECS */
};

#define NATIVE_MOUNTS_INIT ((struct native_mounts){ NULL })

/* Open the mounts of SPEC for the user namespace USERNS_FD, whose ids begin at UID_BASE on the
 * host. */
int native_mounts_open(const struct node_spec *spec, int userns_fd, uid_t uid_base,
		       struct native_mounts *ret, struct error *err);
void native_mounts_release(struct native_mounts *mounts);

/* As the host's root: attach the mounts as DIR/0, DIR/1, …. */
int native_mounts_stage(const struct native_mounts *mounts, const char *dir, struct error *err);

/* As the node's root: reopen the staged mounts, which are now in DIR.  TREES then refers to the
 * mounts that the kernel has locked for the node instead of those opened by the host. */
int native_mounts_pick_up(const struct native_mounts *mounts, const char *dir, struct error *err);

/*
 * Move the mounts to their places, in a process whose root directory is the node's and which sees
 * nothing of the host.  Links are followed inside the node; missing mount points are made.
 */
int native_mounts_place(const struct native_mounts *mounts, struct error *err);
