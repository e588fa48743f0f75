/* What kubeadm's configuration says of addresses of both families: lists, with IPv4 first. */
#pragma once

#include <jansson.h>

#include "record/profile.h"

/* The value of the kubelet's --node-ip, for the caller to free. */
char *kubeadm_node_addresses(const struct node *node) must_check;

/* The field `networking` of the ClusterConfiguration. */
json_t *kubeadm_networking(const struct profile *profile) must_check;
