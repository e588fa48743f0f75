/*
 * Failures that use up what a node has of its own: its disk, its memory, and the time of a VM.
 *
 * Disk and memory are taken inside the node, so that its own limits bound them, and this host lacks
 * nothing.  The kubelet measures them and evicts pods.
 */
#pragma once

#include "node/cluster-node.h"

/* Fill the node's own disk with a file; and remove the file, which also works on a node that does
 * not run. */
int pressure_fill_disk(const struct cluster_node *at, struct error *err);
int pressure_free_disk(const struct cluster_node *at, struct error *err);

/*
 * Take the node's memory with a service of its agent.  Kubelets of manykube evict no pods for
 * memory unless they are told to; until the memory is given back, this one has the default
 * threshold of Kubernetes, 100 MiB.
 */
int pressure_take_memory(const struct cluster_node *at, struct error *err);
int pressure_give_memory(const struct cluster_node *at, struct error *err);

/* Set the clock of a VM OFFSET_SECONDS (0: an hour) away from that of this host, and back. */
int pressure_set_clock(const struct cluster_node *at, int64_t offset_seconds, struct error *err);
int pressure_mend_clock(const struct cluster_node *at, struct error *err);
