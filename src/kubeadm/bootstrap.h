/*
 * kubeadm on nodes that run: the first control plane, the others, what every cluster has.
 *
 * Each of these may be repeated after having been cut short.
 */
#pragma once

#include "base/observer.h"
#include "base/process.h"
#include "record/profile.h"

/* kubeadm at work on one node. */
struct bootstrap {
	const struct profile *profile;
	struct node *node;
	struct process process;
	char *log; /* kubeadm's output */
};

#define BOOTSTRAP_INIT ((struct bootstrap){ .process = { -1, -1 } })

/*
 * `kubeadm init` on NODE in four pieces, each begun when it can do its work at once; kubeadm by
 * itself goes through them in a row, and sleeps a second wherever it is too early.
 *
 * First certificates, kubeconfigs, etcd, the API server and the kubelet.
 */
int bootstrap_init(const struct profile *profile, struct node *node, const char *token,
		   struct bootstrap *ret, struct error *err);

/* Then, once the administrator has its rights (world->admin_is_ready()): what others need to join.
 */
int bootstrap_publish(const struct profile *profile, struct node *node, struct bootstrap *ret,
		      struct error *err);

/*
 * The controller-manager and the scheduler, at that time, too: before the API has made their roles
 * they would only be refused, and take the processor from those whom they wait for.
 */
int bootstrap_controllers(const struct profile *profile, struct node *node, struct bootstrap *ret,
			  struct error *err);

/* Begin `kubeadm init phase addon`: CoreDNS and kube-proxy. */
int bootstrap_addons(const struct profile *profile, struct node *node, struct bootstrap *ret,
		     struct error *err);

/* Where a kubelet has what it shows to the API. */
#define BOOTSTRAP_KUBELET_PEM "/var/lib/kubelet/pki/kubelet-client-current.pem"

/*
 * Sign the certificate of NODE's kubelet ourselves and leave it where the kubelet would have put
 * what it got by bootstrapping: waiting for the controller-manager to approve its request costs
 * seconds.  The kubelet renews it by itself later.
 */
int bootstrap_sign_kubelet(const struct profile *profile, const struct node *node,
			   struct error *err);

/* Begin `kubeadm join` of NODE with TOKEN, as a control plane if it is one. */
int bootstrap_join(const struct profile *profile, struct node *node, const char *token,
		   struct bootstrap *ret, struct error *err);

/* Begin ARGV, some other work of kubeadm's on NODE; the file INPUT of this host (may be NULL) is
 * its standard input. */
int bootstrap_run(const struct profile *profile, struct node *node, char *const *argv,
		  const char *input, struct bootstrap *ret, struct error *err);

/* Wait for its end; -ETIMEDOUT after DEADLINE_MS, -EIO if kubeadm failed, the error quoting its
 * last words and naming the log, or if it would wait for a kubelet in vain: see node/trouble.h.
 */
int bootstrap_finish(struct bootstrap *bootstrap, int64_t deadline_ms, struct error *err);
void bootstrap_release(struct bootstrap *bootstrap);

/* Whether ERR, of bootstrap_finish(), says that the API took longer than kubeadm waits. */
bool bootstrap_was_kept_waiting(const struct error *err);

/* Wait until the JOIN of a control plane has made it a member of etcd with a vote: the others may
 * join then.  Its kubeadm ends later.  -ECANCELED if its kubelet can't run: see node/trouble.h.
 */
int bootstrap_await_member(const struct profile *profile, struct bootstrap *join,
			   int64_t deadline_ms, struct error *err);

/* Have `kubeadm reset` take away from NODE, which runs, all that made it a member. */
int bootstrap_reset(const struct profile *profile, struct node *node, int64_t deadline_ms,
		    struct error *err);

/* Have the API not think that NODE is Ready, if it knows it: kubeadm would not let it join. */
int bootstrap_disown(const struct profile *profile, const struct node *node, struct error *err);

/* Have the API know TOKEN for joins, and forget it. */
int bootstrap_add_token(const struct profile *profile, const char *token, struct error *err);
int bootstrap_remove_token(const struct profile *profile, const char *token, struct error *err);

/* Give the Node object of NODE those of its labels that no kubelet may give itself. */
int bootstrap_label(const struct profile *profile, const struct node *node, int64_t deadline_ms,
		    struct error *err);

/* And those that tell that it is a control plane, as the end of a join does. */
int bootstrap_mark_control_plane(const struct profile *profile, const struct node *node,
				 int64_t deadline_ms, struct error *err);
