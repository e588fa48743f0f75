/* The ClusterConfiguration that kubeadm stores in the cluster, for joins and upgrades. */
#pragma once

#include <jansson.h>

#include "record/profile.h"

/* Read it, for the caller to release; -ENOENT if there is none. */
int stored_config_read(const struct profile *profile, json_t **ret_config, struct error *err);

/*
 * Record that the cluster has CoreDNS and kube-proxy, unless the user has disabled them.  kubeadm
 * records the contrary if they are not installed in the same run (see bootstrap.h), and from then
 * on it ignores them, even in upgrades.
 */
int stored_config_has_addons(const struct profile *profile, struct error *err);
