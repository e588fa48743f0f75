/*
 * What kubeadm is told: one configuration file per node, kept with the node's state.
 *
 * Pure text (JSON, which is YAML too); running kubeadm is bootstrap.c's work.
 */
#pragma once

#include <jansson.h>

#include "payload/payload.h"
#include "record/profile.h"

/* How long a join token lives if nobody removes it. */
#define JOIN_TOKEN_MINUTES 15

/* Configuration for `kubeadm init` on NODE, the first control plane; TOKEN lets others join. */
char *kubeadm_init_config(const struct profile *profile, const struct node *node,
			  const char *token) must_check;

/* Configuration for `kubeadm join` of NODE with TOKEN, by the discovery file at DISCOVERY_PATH in
 * the node. */
char *kubeadm_join_config(const struct profile *profile, const struct node *node, const char *token,
			  const char *discovery_path) must_check;

/* What NODE would be told of the cluster, for the caller to release. */
json_t *kubeadm_cluster_config(const struct profile *profile, const struct node *node) must_check;

/* Configuration for work of kubeadm's on NODE, a control plane of a cluster that is as
 * CLUSTER_CONFIG says. */
char *kubeadm_local_config(const struct node *node, const json_t *cluster_config) must_check;

/* -EINVAL with reason_usage if a change of what NODE is told does not fit; see kubeadm-patch.h. */
int kubeadm_check_patches(const struct profile *profile, const struct node *node,
			  struct error *err);

/* The arguments of NODE's kubelet, objects with a name and a value, for the caller to release. */
json_t *kubeadm_kubelet_arguments(const struct profile *profile,
				  const struct node *node) must_check;

/* The kubelets' configuration file as PRIMARY would be told of it, for the caller to release. */
json_t *kubeadm_kubelet_file(const struct profile *profile, const struct node *primary) must_check;

/* Those of NODE's labels that no kubelet may give itself, for the caller to release. */
json_t *kubeadm_reserved_labels(const struct node *node) must_check;

/* The discovery file: a kubeconfig with the cluster's CA (base64), the front door and TOKEN. */
char *kubeadm_discovery(const char *ca_base64, const char *token) must_check;

/* The kubeconfig of a kubelet whose certificate and key are in the file at PEM_PATH in the node. */
char *kubeadm_kubelet_config(const char *ca_base64, const char *node_name,
			     const char *pem_path) must_check;

/* A fresh token, "abcdef.0123456789abcdef". */
char *kubeadm_new_token(void) must_check;
