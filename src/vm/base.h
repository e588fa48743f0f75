/*
 * What the VMs of one version of Kubernetes share: a kernel, an initramfs and a disk image, in a
 * directory of the cache that is named by what went into it and never changed.
 *
 * The kernel is Debian's for virtual machines, or one of this host (vm/kernel.h).  The disk image
 * is made of programs of this host or the /usr of another root file system, the payload and its
 * prepared image store.  The
 * agent is not in it, so programs with other agents share it; see vm/initrd.h.
 */
#pragma once

#include "base/error.h"
#include "base/observer.h"

struct vm_base {
	char *kernel;
	char *initrd; /* without the agent */
	char *disk;
};

/* What goes into one. */
struct vm_source {
	const char *payload; /* the directory of a payload */
	const char *kernel;  /* see vm/kernel.h; NULL: Debian's */
	const char *root;    /* a directory or tar archive with a root file system, whose /usr VMs
			      * get; NULL: programs of this host */
};

#define VM_BASE_INIT ((struct vm_base){ NULL })

/* The programs that making one needs; ends with NULL. */
extern const char *const vm_base_programs[];

/* Find the base of SOURCE, or make it (half a minute) unless OFFLINE forbids the download. OBSERVER
 * is told when it is made. */
int vm_base_ensure(const struct vm_source *source, bool offline, struct observer *observer,
		   struct vm_base *ret, struct error *err);

/* The same if it is there already; else -ENOENT. */
int vm_base_find(const struct vm_source *source, struct vm_base *ret, struct error *err);

void vm_base_release(struct vm_base *base);
