/*
 * kubeadm on nodes that run: the first control plane, the others, what every cluster has.
 *
 * Each of these may be repeated after having been cut short.
 */
#pragma once

#include "base/observer.h"
#include "base/process.h"
#include "cluster/profile.h"

/* kubeadm at work on one node. */
struct bootstrap {
	struct node *node;
	struct process process;
	char *log; /* kubeadm's output */
};

#define BOOTSTRAP_INIT ((struct bootstrap){ .process = { -1, -1 } })

/*
 * Begin `kubeadm init` on NODE, up to the point where other nodes can join with TOKEN.  Of the
 * control plane only etcd and the API server are started; see bootstrap_controllers().
 */
int bootstrap_init(const struct profile *profile, struct node *node, const char *token,
		   struct bootstrap *ret, struct error *err);

/*
 * Begin `kubeadm init phase control-plane`: the controller-manager and the scheduler.  Before the
 * API has made their roles they would only be refused, and take the processor from those whom
 * they wait for: world->roles_are_made() tells.
 */
int bootstrap_controllers(const struct profile *profile, struct node *node, struct bootstrap *ret,
			  struct error *err);

/* Begin `kubeadm init phase addon`: CoreDNS and kube-proxy. */
int bootstrap_addons(const struct profile *profile, struct node *node, struct bootstrap *ret,
		     struct error *err);

/* Begin `kubeadm join` of NODE with TOKEN. */
int bootstrap_join(const struct profile *profile, struct node *node, const char *token,
		   struct bootstrap *ret, struct error *err);

/* Whether it has ended, without waiting. */
bool bootstrap_has_ended(const struct bootstrap *bootstrap);

/* Wait for its end; -ETIMEDOUT after DEADLINE_MS, -EIO if kubeadm failed: the error quotes its last
 * words and names the log. */
int bootstrap_finish(struct bootstrap *bootstrap, int64_t deadline_ms, struct error *err);
void bootstrap_release(struct bootstrap *bootstrap);

/* Have the API know TOKEN for joins, and forget it. */
int bootstrap_add_token(const struct profile *profile, const char *token, struct error *err);
int bootstrap_remove_token(const struct profile *profile, const char *token, struct error *err);

/* Have CoreDNS asked every second whether it is ready: with kubeadm's 10 s, one early no costs ten
 * seconds. */
int bootstrap_quicken_dns(const struct profile *profile, struct error *err);

/* Apply what every cluster of ours has: the default storage class and its provisioner. */
int bootstrap_storage(const struct profile *profile, struct error *err);
