/*
 * What a native node has of the host by --mount: directories and files with the node's view of
 * owners.  In what is read-only, what belongs to user 1000 here belongs to user 1000 there;
 * mount-owner.h says who is who in the rest.
 */
#pragma once

#include "driver/driver.h"

struct native_mounts {
	const struct node_mount *specs; /* of the node_spec */
	size_t count;
	int *trees; /* detached mounts, one for each */
};

#define NATIVE_MOUNTS_INIT ((struct native_mounts){ NULL })

/* Take what SPEC wants from the host, for the user namespace USERNS_FD, whose ids begin at UID_BASE
 * of the host's. */
int native_mounts_open(const struct node_spec *spec, int userns_fd, uid_t uid_base,
		       struct native_mounts *ret, struct error *err);
void native_mounts_release(struct native_mounts *mounts);

/* Attach them as DIR/0, DIR/1, … in a process that is still the host's root. */
int native_mounts_stage(const struct native_mounts *mounts, const char *dir, struct error *err);

/* Take up what was staged, now at DIR, in a process that is the node's root: instead of what
 * the host has opened, TREES then has what the kernel has locked for the node. */
int native_mounts_pick_up(const struct native_mounts *mounts, const char *dir, struct error *err);

/*
 * Put it to its places, in a process whose root is the node's and which can see nothing else. Links
 * of the node's are followed in it; what is missing is made.
 */
int native_mounts_place(const struct native_mounts *mounts, struct error *err);
