/*
 * A node's /etc: the files that turn a bare root file system into a node of this cluster.
 *
 * They are written before every start, because files of the host and the set of nodes may have
 * changed.  Files of Kubernetes are left alone.
 */
#pragma once

#include "api/kube.h"
#include "base/strbuf.h"
#include "payload/payload.h"
#include "record/profile.h"

/* The directory of NODE in that of PROFILE, which holds the host's files about the node and is
 * removed with it, for the caller to free. */
char *node_dir(const struct profile *profile, const struct node *node) must_check;

/* Access to a file of NODE, running or stopped, through its driver; driver/files.h describes how
 * that is made safe.  PATH is absolute as in the node, or relative to its /etc. */
int node_read(const struct profile *profile, const struct node *node, const char *path,
	      struct strbuf *ret, struct error *err);
int node_put(const struct profile *profile, const struct node *node, const char *path,
	     const char *text, mode_t mode, struct error *err);
bool node_has(const struct profile *profile, const struct node *node, const char *path);
int node_rename(const struct profile *profile, const struct node *node, const char *from,
		const char *to, struct error *err);
void node_unlink(const struct profile *profile, const struct node *node, const char *path);

/* Create the directory PATH; only directories that are created get MODE. */
int node_make_directory(const struct profile *profile, const struct node *node, const char *path,
			mode_t mode, struct error *err);

/* Open the API client with the kubeconfig PATH of NODE. */
int node_open_kube(const struct profile *profile, const struct node *node, const char *path,
		   struct kube **ret_kube, struct error *err);

int node_files_write(const struct profile *profile, const struct node *node,
		     const struct payload *payload, struct error *err);

/* Make the kubelet of NODE, a control plane that has joined, use the API server on the same node
 * instead of the front door from its next start on, like the kubelet of the first control plane. */
int node_files_use_own_api(const struct profile *profile, const struct node *node,
			   struct error *err);

/* Write only where containerd on NODE gets images from; it reads that at every pull. */
int node_files_write_registries(const struct profile *profile, const struct node *node,
				struct error *err);

/* The configurations of pod networks: ours, and flannel's, which its pod writes. */
#define NODE_CNI_OURS    "cni/net.d/10-manykube.conflist"
#define NODE_CNI_FLANNEL "cni/net.d/10-flannel.conflist"

/* Write only the configuration of the pod network; a network that has its own gets none of ours. */
int node_files_write_cni(const struct profile *profile, const struct node *node, struct error *err);

/* Write only the names of all nodes, which change when nodes are added or deleted. */
int node_files_write_hosts(const struct profile *profile, const struct node *node,
			   struct error *err);
