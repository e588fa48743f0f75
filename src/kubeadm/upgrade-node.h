/* The parts of an upgrade that kubeadm does on one node; the order is cluster/upgrade.c's. */
#pragma once

#include "payload/payload.h"
#include "record/profile.h"

/*
 * Leave on NODE, which runs and goes on so, all that it will be as one of PAYLOAD's version: the
 * configuration of its kubelet, and on a control plane new certificates and, beside the old ones,
 * the manifests of the static pods.
 */
int upgrade_prepare_node(const struct profile *profile, struct node *node,
			 const struct payload *payload, int64_t deadline_ms, struct error *err);

/* Put these manifests in the place of the old ones on NODE, a control plane that does not run. */
int upgrade_replace_manifests(const struct profile *profile, const struct node *node,
			      struct error *err);

/* Whether NODE, a control plane, has the manifests of VERSION. */
bool upgrade_has_manifests(const struct profile *profile, const struct node *node,
			   const char *version);

/* Now that all control planes are of VERSION: what the whole cluster has, DNS and kube-proxy among
 * it.  NODE is one of them. */
int upgrade_rest(const struct profile *profile, struct node *node, const char *version,
		 int64_t deadline_ms, struct error *err);
