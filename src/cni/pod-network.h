/* The pod network of a cluster: what it needs besides the nodes' own configuration. */
#pragma once

#include "base/observer.h"
#include "cni/manifests.h"
#include "payload/payload.h"
#include "record/profile.h"

/* Get what the pod network of PROFILE needs, which may be new, before anything is made or changed:
 * flannel, or the manifests that are not stored yet, in RET. */
int pod_network_get(const struct profile *profile, const struct payload_source *source,
		    struct observer *observer, struct cni_manifests *ret, struct error *err);

/* Store MANIFESTS, the result of pod_network_get(), in the directory of PROFILE. */
int pod_network_keep(const struct profile *profile, const struct cni_manifests *manifests,
		     struct error *err);

/* Install its objects in the API, if it has any. */
int pod_network_install(const struct profile *profile, struct error *err);

/* Delete the objects of networks that PROFILE had before. */
int pod_network_uninstall_others(const struct profile *profile, struct error *err);

/* Before NODE is started: forget what its pod network has left there; after that: give it images,
 * and have it route for a bridge. */
void pod_network_before_start(const struct profile *profile, const struct node *node);
int pod_network_after_start(const struct profile *profile, const struct node *node,
			    struct error *err);
