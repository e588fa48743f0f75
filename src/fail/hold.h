/*
 * Holding services and static pods of a node down.
 *
 * A service of the agent is held down by a file in the node, which survives the node's restarts:
 * the agent does not start the service while /etc/manykube/hold/NAME exists.  A static pod is held
 * down by moving its manifest to /etc/manykube/held, which the kubelet does not look at.  Root in
 * the node can undo both, and harms only its own node.
 */
#pragma once

#include "node/cluster-node.h"

/* Hold the service NAME of the agent down, whose program has the same name: it is killed.  -ENOTSUP
 * if the node's agent, of an earlier version, cannot do that; it is not held then. */
int hold_service(const struct cluster_node *at, const char *name, struct error *err);

/* Let it be started again.  Both also work on a node that does not run. */
int hold_release_service(const struct cluster_node *at, const char *name, struct error *err);

/* Hold the static pod NAME ("etcd") down, whose program has the same name. */
int hold_pod(const struct cluster_node *at, const char *name, struct error *err);

/* Let the kubelet start it again. */
int hold_release_pod(const struct cluster_node *at, const char *name, struct error *err);
