/*
 * What the programs of a node may not ask of the kernel.
 *
 * A node's root is no root of the host, so the kernel refuses most of this by itself.  The filter
 * and the smaller bounding set stand behind that: a node can't reach code of the kernel that it
 * needs for nothing, however that code checks who calls it.
 */
#pragma once

#include <linux/filter.h>

#include "base/error.h"

/*
 * For the calling process, as root of a node's user namespace, and all that it will run: take
 * capabilities out of the bounding set, and install the filter.  There is no way back.
 */
int confine(struct error *err);

/* At most so many instructions are in the filter. */
#define CONFINE_FILTER_MAX 200

/* The filter as confine() installs it; returns its length.  For tests. */
unsigned short confine_filter(struct sock_filter ret[CONFINE_FILTER_MAX]);
