/* What the process that watches the cluster's API is to do. */
#pragma once

#include "record/profile.h"
#include "watch/config.h"

/*
 * Fill RET for PROFILE.  Services of type LoadBalancer get addresses of the cluster's subnet: above
 * the highest that a node can have if the subnet is that large; otherwise from its upper half, from
 * the top, where nodes get addresses last.  A node that gets one all the same keeps it, and
 * the service gets another.  Network policies are enforced unless the cluster has another CNI or
 * the setting says otherwise.
 */
int network_watch_config(const struct profile *profile, struct watch_config *ret,
			 struct error *err);
