/* Copying files and directories between this host and nodes, or between nodes. */
#pragma once

#include "node/cluster-node.h"

struct copy_end {
	const struct cluster_node *node; /* NULL: this host */
	const char *path;                /* absolute on a node */
};

/*
 * Copy as `cp -r` would: into TO if it is a directory, else to that name; a directory into one of
 * the same name adds to it.  Links in a directory stay links and are never followed, modes stay;
 * files become those of the node's root, or on the host those of the user, who must have the right
 * to write there.  Pipes, sockets and devices do not come to the host.  A file appears under its
 * name only when it is complete.
 */
int copy_path(const struct copy_end *from, const struct copy_end *to, struct error *err);
