/* Copying files and folders between this host and nodes, or between nodes. */
#pragma once

#include "cluster/cluster.h"

struct copy_end {
	const struct cluster_node *node; /* NULL: this host */
	const char *path;                /* absolute on a node */
};

/*
 * Copy as `cp -r` would: into TO if it is a folder, else to that name; a folder into one of the
 * same name adds to it.  Links in a folder stay links, modes stay; files become those of the
 * node's root, or on the host those of the person.  A file appears under its name only when it
 * is complete.
 */
int copy_path(const struct copy_end *from, const struct copy_end *to, struct error *err);
