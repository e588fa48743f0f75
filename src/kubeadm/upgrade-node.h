/* The parts of an upgrade that kubeadm does on one node; cluster/upgrade.c determines the order. */
#pragma once

#include "payload/payload.h"
#include "record/profile.h"

/*
 * Prepare NODE, which keeps running, for the version of PAYLOAD: the configuration of its kubelet,
 * and on a control plane new certificates and, beside the old ones, the new manifests of static
 * pods.
 */
int upgrade_prepare_node(const struct profile *profile, struct node *node,
			 const struct payload *payload, int64_t deadline_ms, struct error *err);

/* Replace the old manifests by these on NODE, a control plane that does not run. */
int upgrade_replace_manifests(const struct profile *profile, const struct node *node,
			      struct error *err);

/* Whether NODE, a control plane, has the manifests of VERSION. */
bool upgrade_has_manifests(const struct profile *profile, const struct node *node,
			   const char *version);

/* Upgrade the cluster-wide objects, including DNS and kube-proxy, when all control planes have
 * VERSION.  NODE is one of them. */
int upgrade_rest(const struct profile *profile, struct node *node, const char *version,
		 int64_t deadline_ms, struct error *err);
