/* The ClusterConfiguration that kubeadm keeps in the cluster, for those who join or upgrade it. */
#pragma once

#include <jansson.h>

#include "record/profile.h"

/* Read it, for the caller to release; -ENOENT if there is none. */
int stored_config_read(const struct profile *profile, json_t **ret_config, struct error *err);

/*
 * Have it say that the cluster has CoreDNS and kube-proxy, unless the person wants none.  kubeadm
 * notes the contrary when they are not installed in the same run (see bootstrap.h), and from then
 * on leaves them alone, in upgrades, too.
 */
int stored_config_has_addons(const struct profile *profile, struct error *err);
