/*
 * Operations on a whole cluster.
 *
 * Every function may be interrupted at any point and called again: the profile is written before
 * each step, every step may be repeated, and every removal succeeds if its object does not exist.
 * Only cluster_delete() ever resets or wipes a cluster.
 *
 * The caller holds the profile's lock.
 */
#pragma once

#include "base/observer.h"
#include "fail/fail.h"
#include "record/options.h"
#include "record/profile.h"

/* The result of cluster_start(). */
struct cluster_outcome {
	bool is_new;          /* the cluster did not exist before */
	unsigned started;     /* nodes that did not run */
	unsigned joined;      /* nodes that were not members */
	unsigned repaired;    /* hung services, including the front door, that were restarted */
	bool only_registered; /* the cluster does not run: added nodes are started with it */
};

/* Create, start or repair the cluster NAME, so that it is as OPTIONS say.  RET_OUTCOME is also set
 * on failure. */
int cluster_start(const char *name, const struct cluster_options *options,
		  struct observer *observer, struct cluster_outcome *ret_outcome,
		  struct error *err);

/* Shut down the nodes of PROFILE called NAMES (NULL: all), workers first; all their data is kept.
 * Returns how many ran. */
int cluster_stop_nodes(const struct profile *profile, const struct strlist *names,
		       struct observer *observer, struct error *err);

/* Stop all nodes, the front door and the network.  The cluster's entries are removed from the
 * kubeconfig unless KEEP_CONTEXT. */
int cluster_stop(const struct profile *profile, bool keep_context, struct observer *observer,
		 struct error *err);

/*
 * Let the control planes among the nodes called NAMES leave before they are stopped, except for the
 * last one of the cluster.  With KEEP_MEMBER they stay members of etcd: -EAGAIN if the others are
 * not a majority.
 */
int cluster_leave_to_stop(struct profile *profile, const struct strlist *names, bool keep_member,
			  struct observer *observer, struct error *err);

/* Let other control planes take over the work of those among the nodes called NAMES, which are
 * about to be stopped: see hand-over.c.  Does nothing if no other control plane runs. */
void cluster_hand_over(const struct profile *profile, const struct strlist *names,
		       struct observer *observer);

/*
 * Delete the node called NAME from PROFILE completely, even if it is dead, incomplete, or if no
 * control plane runs.  RET_API_KNOWS is set if the API still has its Node object, which the next
 * start deletes.  With FORCE, also delete a control plane that etcd needs for its majority.
 */
int cluster_remove_node(struct profile *profile, const char *name, bool force,
			unsigned drain_seconds, struct observer *observer, bool *ret_api_knows,
			struct error *err);

/*
 * Close the ports of this host that are forwarded only to the node called NAME, which was deleted.
 */
int cluster_close_ports(struct profile *profile, const char *name, struct error *err);

/* Whether NODE is the only control plane of the cluster. */
bool cluster_is_last_control_plane(const struct profile *profile, const struct node *node);

/* -EAGAIN, with the numbers of members, if etcd would have no majority while NODE leaves or
 * afterwards. */
int cluster_may_leave(const struct profile *profile, const struct node *node, struct error *err);

/* Remove NODE from the control plane, which keeps running.  If NODE is the primary, another control
 * plane becomes the primary. */
int cluster_leave(struct profile *profile, struct node *node, struct observer *observer,
		  struct error *err);

/* Record that NODE is no member of etcd and has to join again.  If NODE is the primary, another
 * control plane becomes the primary. */
int cluster_step_back(struct profile *profile, struct node *node, struct error *err);

/* If NODE is the primary, make another control plane the primary. */
int cluster_pass_on_primary(struct profile *profile, struct node *node, struct error *err);

/*
 * The control plane called NAME (NULL: the first one that runs), if a majority of etcd's members
 * was lost: -EINVAL if it was not.  It need not run if the directories of a majority are missing.
 */
int cluster_choose_survivor(const struct profile *profile, const char *name, struct node **ret_node,
			    struct error *err);

/* Make SURVIVOR the primary and the only member of etcd; the other control planes have to join
 * again.  SURVIVOR is started twice; each time, wait up to SECONDS for the API. */
int cluster_recover(struct profile *profile, struct node *survivor, unsigned seconds,
		    struct observer *observer, struct error *err);

/* Delete the Node object NAME from the API; succeeds if there is none. */
int cluster_forget_node(const struct profile *profile, const char *name, struct error *err);

/* Remove the cluster NAME from the user's kubeconfig.  Failure is only a warning: an unreadable
 * kubeconfig must not prevent the deletion of a cluster. */
void cluster_forget_context(const char *name);

/* Delete the cluster NAME and everything that was created for it, even if it is incomplete or its
 * profile is damaged. */
int cluster_delete(const char *name, struct observer *observer, struct error *err);

/* Pause NODE, or all running nodes if it is NULL, or resume them.  Returns how many were changed;
 * -ESRCH with reason_node_not_running if NODE, or every node, does not run. */
int cluster_pause(const struct profile *profile, const struct node *node, bool paused,
		  struct observer *observer, struct error *err);

/*
 * Undo the failures of SELECTION in PROFILE, and start the nodes among them that were killed,
 * without waiting for them to be Ready.  Returns how many failures were undone.  -EINVAL with
 * reason_usage, before anything is changed, if a node of the selection has no failure.
 */
int cluster_heal(struct profile *profile, const struct fail_selection *selection,
		 struct observer *observer, struct error *err);

/* The nodes that have just been started, by their index in the profile.  The API still has their
 * status from before, so it counts only once their kubelets have reported again. */
struct cluster_restart {
	const bool *nodes;
	const bool *thawed; /* those that were only paused: their kubelets were not restarted */
	const bool *part;   /* which nodes to wait for */
	const int64_t *since_ms; /* since 1970 */
};

/* Wait for WHAT (enum cluster_wait) for up to SECONDS: -ETIMEDOUT, naming what is missing.  RESTART
 * may be NULL. */
int cluster_wait(const struct profile *profile, unsigned what,
		 const struct cluster_restart *restart, unsigned seconds, struct observer *observer,
		 struct error *err);

/*
 * The nodes that run and have joined, but are not Ready in the API: in RET_BARE those that lack
 * only a network, which the user has to install; in RET_OTHERS, unless ABOUT is NULL, those that
 * are not in ABOUT.
 */
int cluster_find_unready(const struct profile *profile, const struct strlist *about,
			 struct strlist *ret_others, struct strlist *ret_bare, struct error *err);
