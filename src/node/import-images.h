/* Kubernetes' own images in the image stores of running nodes. */
#pragma once

#include "node/cluster-node.h"
#include "payload/payload.h"

/* Import the images of PAYLOAD that NODE needs.  An image that its name already stands for is kept.
 */
int images_import(const struct profile *profile, const struct node *node,
		  const struct payload *payload, struct error *err);

/* Whether NODE needs Kubernetes' image NAME. */
bool images_are_for(const struct node *node, const char *name);

/* Run ARGV on the node with FD, the open file ARCHIVE on this host, as standard input; its output
 * is appended to LOG.  Any exit status but 0 is an error. */
int images_feed(const struct cluster_node *at, char *const *argv, const char *archive, int fd,
		const char *log, struct error *err);
