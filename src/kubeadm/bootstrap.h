/*
 * Running kubeadm on nodes: on the first control plane, on other nodes, and for cluster-wide
 * objects.
 *
 * Each of these operations may be repeated after it was interrupted.
 */
#pragma once

#include "base/observer.h"
#include "base/process.h"
#include "record/profile.h"

/* A running kubeadm on one node. */
struct bootstrap {
	const struct profile *profile;
	struct node *node;
	struct process process;
	char *log; /* the file with kubeadm's output */
};

#define BOOTSTRAP_INIT ((struct bootstrap){ .process = { -1, -1 } })

/*
 * `kubeadm init` on NODE, split into four parts.  Each is started when it can do its work at once;
 * kubeadm itself runs them in sequence, and sleeps for a second wherever it is too early.
 *
 * First part: certificates, kubeconfigs, etcd, the API server and the kubelet.
 */
int bootstrap_init(const struct profile *profile, struct node *node, const char *token,
		   struct bootstrap *ret, struct error *err);

/* Second part, once the administrator has its rights (world->admin_is_ready()): the objects that
 * other nodes need to join. */
int bootstrap_publish(const struct profile *profile, struct node *node, struct bootstrap *ret,
		      struct error *err);

/*
 * Third part, at the same time: the controller-manager and the scheduler.  Before the API server
 * has created their roles, they would only be refused, and would take CPU time from the programs
 * they wait for.
 */
int bootstrap_controllers(const struct profile *profile, struct node *node, struct bootstrap *ret,
			  struct error *err);

/* Fourth part: start `kubeadm init phase addon`, which installs CoreDNS and kube-proxy. */
int bootstrap_addons(const struct profile *profile, struct node *node, struct bootstrap *ret,
		     struct error *err);

/* The client certificate and key of a kubelet, in its node. */
#define BOOTSTRAP_KUBELET_PEM "/var/lib/kubelet/pki/kubelet-client-current.pem"

/*
 * Sign the certificate of NODE's kubelet on this host, and store it where the kubelet would store
 * the result of bootstrapping.  This saves the seconds until the controller-manager approves a
 * request.  The kubelet renews the certificate itself later.
 */
int bootstrap_sign_kubelet(const struct profile *profile, const struct node *node,
			   struct error *err);

/* Start `kubeadm join` of NODE with TOKEN, as a control plane if NODE is one. */
int bootstrap_join(const struct profile *profile, struct node *node, const char *token,
		   struct bootstrap *ret, struct error *err);

/* Start ARGV, another kubeadm command, on NODE; the file INPUT on this host (may be NULL) is its
 * standard input. */
int bootstrap_run(const struct profile *profile, struct node *node, char *const *argv,
		  const char *input, struct bootstrap *ret, struct error *err);

/* Wait until kubeadm exits; -ETIMEDOUT after DEADLINE_MS.  -EIO if kubeadm failed, with its last
 * error and the path of the log in ERR, or if its kubelet keeps exiting: see node/trouble.h. */
int bootstrap_finish(struct bootstrap *bootstrap, int64_t deadline_ms, struct error *err);
void bootstrap_release(struct bootstrap *bootstrap);

/* Whether ERR, from bootstrap_finish(), says that a request to the API timed out in kubeadm. */
bool bootstrap_was_kept_waiting(const struct error *err);

/* Wait until the control plane that JOIN adds is a voting member of etcd, so that the next one can
 * join.  Its kubeadm ends later.  -ECANCELED if its kubelet cannot run: see node/trouble.h. */
int bootstrap_await_member(const struct profile *profile, struct bootstrap *join,
			   int64_t deadline_ms, struct error *err);

/* Run `kubeadm reset` on NODE, which runs, to remove everything that made it a member. */
int bootstrap_reset(const struct profile *profile, struct node *node, int64_t deadline_ms,
		    struct error *err);

/* Make the Node object of NODE, if there is one, not Ready: kubeadm refuses to join a node whose
 * name belongs to a Ready one. */
int bootstrap_disown(const struct profile *profile, const struct node *node, struct error *err);

/* Create the bootstrap token TOKEN in the API, or delete it. */
int bootstrap_add_token(const struct profile *profile, const char *token, struct error *err);
int bootstrap_remove_token(const struct profile *profile, const char *token, struct error *err);

/* Set those labels of NODE that a kubelet may not set on its own Node object. */
int bootstrap_label(const struct profile *profile, const struct node *node, int64_t deadline_ms,
		    struct error *err);

/* Set the labels of control planes on NODE, as the end of a join does. */
int bootstrap_mark_control_plane(const struct profile *profile, const struct node *node,
				 int64_t deadline_ms, struct error *err);
