/* Kubernetes' own images in the stores of nodes that run. */
#pragma once

#include "node/cluster-node.h"
#include "payload/payload.h"

/* See that NODE has those images of PAYLOAD that it runs; what is there by its name stays. */
int images_import(const struct profile *profile, const struct node *node,
		  const struct payload *payload, struct error *err);

/* Run ARGV on the node with ARCHIVE, a file of this host, as what comes in, and with what it says
 * added to LOG; any exit status but 0 is an error. */
int images_feed(const struct cluster_node *at, char *const *argv, const char *archive,
		const char *log, struct error *err);
