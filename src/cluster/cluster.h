/*
 * What can be done with a whole cluster.
 *
 * Every function can be interrupted at any moment and called again: the profile is
 * written before each step, every step may be repeated, every removal succeeds on what
 * is gone.  Nothing here ever resets or wipes a cluster but cluster_delete().
 *
 * The caller holds the profile's lock.
 */
#pragma once

#include "base/observer.h"
#include "record/options.h"
#include "record/profile.h"

/* What cluster_start() found and did. */
struct cluster_outcome {
	bool is_new;       /* there was no such cluster before */
	unsigned started;  /* nodes that did not run */
	unsigned joined;   /* nodes that were not members */
	unsigned repaired; /* what hung and was restarted: services of running nodes, the front door
			    */
	bool only_registered; /* the cluster does not run: what was added comes up with it */
};

/*
 * Make the cluster NAME, or bring it up, or mend it: afterwards it is as OPTIONS ask.
 * RET_OUTCOME is set also when it fails.
 */
int cluster_start(const char *name, const struct cluster_options *options,
		  struct observer *observer, struct cluster_outcome *ret_outcome,
		  struct error *err);

/*
 * Shut the nodes of PROFILE called NAMES (NULL: all) down in order, workers first; they keep
 * everything.  Returns how many ran.
 */
int cluster_stop_nodes(const struct profile *profile, const struct strlist *names,
		       struct observer *observer, struct error *err);

/* The same with all of them, the front door and the network; the cluster's entries are removed
 * from the kubeconfig unless KEEP_CONTEXT. */
int cluster_stop(const struct profile *profile, bool keep_context, struct observer *observer,
		 struct error *err);

/*
 * Control planes among the nodes called NAMES leave before they are stopped, but for the last one
 * there is; with KEEP_MEMBER they stay members of etcd: -EAGAIN if the others are no majority.
 */
int cluster_leave_to_stop(struct profile *profile, const struct strlist *names, bool keep_member,
			  struct observer *observer, struct error *err);

/*
 * Have other control planes take over what those among the nodes called NAMES do for clients, which
 * are about to be stopped: see hand-over.c.  Does nothing if no other one runs.
 */
void cluster_hand_over(const struct profile *profile, const struct strlist *names,
		       struct observer *observer);

/*
 * Remove the node called NAME from PROFILE with every trace of it, also a dead or half made one,
 * and also while no control plane is up: RET_API_KNOWS tells that the API is to forget it with the
 * next start.  With FORCE also a control plane without which etcd has no majority.
 */
int cluster_remove_node(struct profile *profile, const char *name, bool force,
			unsigned drain_seconds, struct observer *observer, bool *ret_api_knows,
			struct error *err);

/* Close the ports of this host that lead to the node called NAME alone, which was removed for good.
 */
int cluster_close_ports(struct profile *profile, const char *name, struct error *err);

/* Whether NODE is the only control plane that there is. */
bool cluster_is_last_control_plane(const struct profile *profile, const struct node *node);

/* -EAGAIN, with the arithmetic, if etcd would have no majority while or after NODE leaves. */
int cluster_may_leave(const struct profile *profile, const struct node *node, struct error *err);

/* Take NODE out of the control plane, which goes on; another one is the primary then if it was. */
int cluster_leave(struct profile *profile, struct node *node, struct observer *observer,
		  struct error *err);

/* Note that NODE is no member of etcd and has to join again; another control plane is the primary
 * then if it was. */
int cluster_step_back(struct profile *profile, struct node *node, struct error *err);

/* If NODE is the primary, make another control plane that one. */
int cluster_pass_on_primary(struct profile *profile, struct node *node, struct error *err);

/*
 * The control plane called NAME (NULL: the first that runs) if a majority of etcd's members was
 * lost: -EINVAL if it was not.  If the directories of a majority are gone, it need not run.
 */
int cluster_choose_survivor(const struct profile *profile, const char *name, struct node **ret_node,
			    struct error *err);

/* Make SURVIVOR the only member of etcd, and the primary; the other control planes are to join
 * again.  Each of its two starts may wait SECONDS for the API. */
int cluster_recover(struct profile *profile, struct node *survivor, unsigned seconds,
		    struct observer *observer, struct error *err);

/* Have the API forget the node called NAME; succeeds if it does not know it. */
int cluster_forget_node(const struct profile *profile, const char *name, struct error *err);

/* Remove the cluster NAME from the user's kubeconfig; a kubeconfig that can't be read is no reason
 * to keep a cluster, so that is only a warning. */
void cluster_forget_context(const char *name);

/* Remove the cluster NAME and everything that was made for it, also half made or with a damaged
 * profile. */
int cluster_delete(const char *name, struct observer *observer, struct error *err);

/*
 * Freeze NODE, or all nodes that run if it is NULL, or thaw them.  Returns how many were not so
 * before; -ESRCH with reason_node_not_running if NODE, or every node, does not run.
 */
int cluster_pause(const struct profile *profile, const struct node *node, bool paused,
		  struct observer *observer, struct error *err);

/*
 * Which nodes have just been started, by their place in the profile: the API still says of them
 * what was true before, so they must have been heard of since.
 */
struct cluster_restart {
	const bool *nodes;
	const bool *thawed; /* those that were only paused: their kubelets go on */
	const bool *part;   /* which nodes are waited for */
	int64_t since_ms;   /* since 1970 */
};

/*
 * Wait for WHAT (enum cluster_wait) until SECONDS have passed: -ETIMEDOUT with what is still
 * missing.  RESTART may be NULL.
 */
int cluster_wait(const struct profile *profile, unsigned what,
		 const struct cluster_restart *restart, unsigned seconds, struct observer *observer,
		 struct error *err);

/*
 * The nodes that run and have joined, but that the API does not call Ready: RET_BARE for want of a
 * network that is the user's to install, RET_OTHERS those that ABOUT (NULL: all nodes) does not
 * name.
 */
int cluster_find_unready(const struct profile *profile, const struct strlist *about,
			 struct strlist *ret_others, struct strlist *ret_bare, struct error *err);
