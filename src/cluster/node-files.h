/*
 * A node's /etc: what makes a bare root file system a machine of this cluster.
 *
 * Written before every start, since the host's own files and the set of nodes may
 * have changed; what Kubernetes itself keeps there is left alone.
 */
#pragma once

#include "cluster/profile.h"
#include "payload/payload.h"

/* Where a node's kubelet is. */
#define NODE_KUBELET "/opt/manykube/bin/kubelet"

/* The folder of NODE in PROFILE's, for the caller to free. */
char *node_folder(const struct profile *profile, const struct node *node) must_check;

/* A path in NODE's /etc as the host sees it, for the caller to free. */
char *node_etc(const struct profile *profile, const struct node *node, const char *path) must_check;

int node_files_write(const struct profile *profile, const struct node *node,
		     const struct payload *payload, struct error *err);

/* Only the names of all nodes, which change when nodes come and go. */
int node_files_write_hosts(const struct profile *profile, const struct node *node,
			   struct error *err);
