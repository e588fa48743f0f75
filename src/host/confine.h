/*
 * Restrictions on system calls and capabilities of a node's programs.
 *
 * A node's root is not root on the host, so the kernel already refuses most of these calls.  The
 * filter and the smaller bounding set are a second line of defence: a node cannot reach kernel code
 * that it does not need, even if that code checks permissions incorrectly.
 */
#pragma once

#include <linux/filter.h>

/*
 * Remove capabilities from the bounding set and install the filter, for the calling process, which
 * is root in a node's user namespace, and all its children.  This cannot be undone.  Returns -1 and
 * sets errno on failure.  The agent calls it as well, so it uses nothing of base/.
 */
int confine(void);

/* The most instructions in the filter. */
#define CONFINE_FILTER_MAX 200

/* Write the filter that confine() installs to RET and return its length; for tests. */
unsigned short confine_filter(struct sock_filter ret[CONFINE_FILTER_MAX]);
