/* Copying files and directories between this host and nodes, or between nodes. */
#pragma once

#include "node/cluster-node.h"

struct copy_end {
	const struct cluster_node *node; /* NULL: this host */
	const char *path;                /* absolute on a node */
};

/*
 * Copy like `cp -r`: into TO if it is a directory, else to that name.  A directory is merged into
 * an existing one of the same name.  Links in a directory stay links and are never followed; modes
 * are kept.  Files belong to the node's root or, on the host, to the user, who must be allowed to
 * write there.  Pipes, sockets and devices are not copied to the host.  A file appears under its
 * name only when it is complete.
 */
int copy_path(const struct copy_end *from, const struct copy_end *to, struct error *err);
