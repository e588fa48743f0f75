/*
 * A node's /etc: what makes a bare root file system a machine of this cluster.
 *
 * Written before every start, since the host's own files and the set of nodes may
 * have changed; what Kubernetes itself keeps there is left alone.
 */
#pragma once

#include "api/kube.h"
#include "base/strbuf.h"
#include "payload/payload.h"
#include "record/profile.h"

/* Where a node's kubelet is. */
#define NODE_KUBELET "/opt/manykube/bin/kubelet"

/* The directory of NODE in PROFILE's, which has the host's own files about it and goes with it, for
 * the caller to free. */
char *node_dir(const struct profile *profile, const struct node *node) must_check;

/*
 * A file of NODE, which may be running or stopped, through its driver: see driver/files.h for what
 * is safe about it.  PATH is absolute as in the node, or else below its /etc.
 */
int node_read(const struct profile *profile, const struct node *node, const char *path,
	      struct strbuf *ret, struct error *err);
int node_put(const struct profile *profile, const struct node *node, const char *path,
	     const char *text, mode_t mode, struct error *err);
bool node_has(const struct profile *profile, const struct node *node, const char *path);
int node_rename(const struct profile *profile, const struct node *node, const char *from,
		const char *to, struct error *err);
void node_unlink(const struct profile *profile, const struct node *node, const char *path);

/* Make the directory PATH; just what is missing gets MODE. */
int node_make_directory(const struct profile *profile, const struct node *node, const char *path,
			mode_t mode, struct error *err);

/* Open the kubeconfig PATH of NODE. */
int node_open_kube(const struct profile *profile, const struct node *node, const char *path,
		   struct kube **ret_kube, struct error *err);

int node_files_write(const struct profile *profile, const struct node *node,
		     const struct payload *payload, struct error *err);

/* Have the kubelet of NODE, a control plane that has joined, ask the API server beside it instead
 * of the front door from its next start on, as that of the first control plane does. */
int node_files_use_own_api(const struct profile *profile, const struct node *node,
			   struct error *err);

/* Only the names of all nodes, which change when nodes come and go. */
int node_files_write_hosts(const struct profile *profile, const struct node *node,
			   struct error *err);
