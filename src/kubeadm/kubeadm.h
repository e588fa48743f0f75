/*
 * kubeadm's configuration: one file per node, stored with the node's state.
 *
 * This is a pure conversion to text (JSON, which is also YAML); bootstrap.c runs kubeadm.
 */
#pragma once

#include <jansson.h>

#include "payload/payload.h"
#include "record/profile.h"

/* The lifetime of a join token that is not removed. */
#define JOIN_TOKEN_MINUTES 15

/* The configuration for `kubeadm init` on NODE, the first control plane; TOKEN lets others join. */
char *kubeadm_init_config(const struct profile *profile, const struct node *node,
			  const char *token) must_check;

/* The configuration for `kubeadm join` of NODE with TOKEN and the discovery file at DISCOVERY_PATH
 * in the node. */
char *kubeadm_join_config(const struct profile *profile, const struct node *node, const char *token,
			  const char *discovery_path) must_check;

/* The ClusterConfiguration that NODE would get, for the caller to release. */
json_t *kubeadm_cluster_config(const struct profile *profile, const struct node *node) must_check;

/* The configuration for other kubeadm commands on NODE, a control plane of a cluster with the
 * configuration CLUSTER_CONFIG. */
char *kubeadm_local_config(const struct node *node, const json_t *cluster_config) must_check;

/* -EINVAL with reason_usage if a patch for NODE cannot be applied; see kubeadm-patch.h. */
int kubeadm_check_patches(const struct profile *profile, const struct node *node,
			  struct error *err);

/* The arguments of NODE's kubelet, objects with a name and a value, for the caller to release. */
json_t *kubeadm_kubelet_arguments(const struct profile *profile,
				  const struct node *node) must_check;

/*
 * The kubelets' configuration file as kubeadm on PRIMARY would get it, for the caller to release.
 */
json_t *kubeadm_kubelet_file(const struct profile *profile, const struct node *primary) must_check;

/*
 * The labels of NODE that a kubelet may not set on its own Node object, for the caller to release.
 */
json_t *kubeadm_reserved_labels(const struct node *node) must_check;

/* The discovery file: a kubeconfig with the cluster's CA (base64), the front door and TOKEN. */
char *kubeadm_discovery(const char *ca_base64, const char *token) must_check;

/* The kubeconfig of a kubelet whose certificate and key are in the file PEM_PATH in the node. */
char *kubeadm_kubelet_config(const char *ca_base64, const char *node_name,
			     const char *pem_path) must_check;

/* A new token, "abcdef.0123456789abcdef". */
char *kubeadm_new_token(void) must_check;
