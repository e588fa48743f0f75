/*
 * What can be done with a whole cluster.
 *
 * Every function can be interrupted at any moment and called again: the profile is
 * written before each step, every step may be repeated, every removal succeeds on what
 * is gone.  Nothing here ever resets or wipes a cluster but cluster_delete().
 *
 * The caller holds the profile's lock, but for cluster_open_front_door() and cluster_need_awake().
 */
#pragma once

#include <limits.h>

#include "base/observer.h"
#include "cluster/profile.h"
#include "node/driver.h"
#include "payload/payload.h"

/* What to wait for at the end of a start. */
enum cluster_wait {
	WAIT_API = 1 << 0,         /* the API answers */
	WAIT_NODES = 1 << 1,       /* nodes are Ready, or with --cni=none lack only a network */
	WAIT_READY = 1 << 4,       /* nodes are Ready */
	WAIT_SYSTEM_PODS = 1 << 2, /* all pods in kube-system are Ready, so DNS answers */
	WAIT_DEFAULT_SA = 1 << 3,  /* the default service account is there, so pods can be made */
};

/* Of what is to be: as much as the host has, which is 0 in what is kept. */
#define ALL_CPUS   UINT_MAX
#define ALL_MEMORY UINT64_MAX

/* What a node is to be; unset (NULL, 0) is as the cluster's other nodes are. */
struct node_options {
	const char *name;   /* NULL: the first free node-N */
	bool control_plane; /* the first node of a cluster is one in any case */
	bool no_schedule;   /* no pods of people on that */
	const char *address;
	unsigned cpus;
	uint64_t memory_bytes;
	uint64_t disk_bytes;
	struct strlist labels; /* beside the cluster's, as are the next */
	struct strlist taints;
	struct strlist mounts;
	struct strlist extra_config;
	struct strlist feature_gates;
	struct strlist kubeadm_patches;
	struct strlist env;
	unsigned max_pods;
	const char *kubelet_binary;
	const char *kubernetes_version; /* as a person writes it: v1.35 */
	const char *base_image;
	const char *origin; /* where a file describes it, FILE:LINE:COLUMN; NULL: none does */
};

/* What the person asked for; for an existing cluster, unset (NULL, 0, empty) keeps what it has. */
struct cluster_options {
	unsigned nodes;
	unsigned control_planes;
	bool no_schedule_control_planes;
	bool no_schedule_control_planes_given;
	const char *kubernetes_version; /* resolved */
	const char *subnet;
	const char *cni;
	unsigned cpus;
	uint64_t memory_bytes;
	uint64_t disk_bytes;
	bool offline;
	bool offline_given;

	/* The words of cluster/spec.h; see cluster/choices.h for what may change later. */
	unsigned api_port;
	const char *service_subnet;
	const char *pod_subnet;
	const char *dns_domain;
	const char *host_access;
	const char *image_repository;
	unsigned cert_seconds;
	struct strlist api_names;
	struct strlist api_ips;
	struct strlist extra_config;
	struct strlist feature_gates;
	struct strlist kubeadm_patches; /* words of cluster/kubeadm-patch.h */
	struct strlist ports;
	struct strlist insecure_registries;
	struct strlist registry_mirrors;
	struct strlist images; /* archives; see cluster/own-images.h */
	struct strlist labels;
	struct strlist taints;
	struct strlist mounts;
	struct strlist env;
	unsigned max_pods;
	const char *kubelet_binary;
	const char *base_image;

	bool keep_context; /* these two may change at any time */
	bool keep_context_given;
	bool embed_certs;
	bool embed_certs_given;

	const struct node_options *add; /* nodes to add, or to make a new cluster of: the */
	size_t add_count;               /* first of those is its primary control plane */
	struct strlist *only;           /* start only these nodes; NULL: all */
	bool trust_running;             /* do not wait for members that run already */
	bool recovering;                /* as part of a recovery */

	const char *binary_mirror; /* where to download Kubernetes from */
	bool force;                /* go on although the host lacks something */
	unsigned wait;             /* enum cluster_wait */
	/* Called when all that is asked for is in the record, before it is done; may be NULL. */
	void (*recorded)(const struct cluster_options *options);
	/* For the cluster only, once all that it needs is there: getting payloads, waiting for
	 * other commands, making nodes and loading images do not count. */
	unsigned wait_seconds;
};

/* What cluster_start() found and did. */
struct cluster_outcome {
	bool is_new;          /* there was no such cluster before */
	unsigned started;     /* nodes that did not run */
	unsigned joined;      /* nodes that were not members */
	unsigned repaired;    /* services of running nodes that hung and were restarted */
	bool only_registered; /* the cluster does not run: what was added comes up with it */
};

/* Whether OPTIONS are about NODE. */
bool cluster_takes_part(const struct cluster_options *options, const struct node *node);

/* What cluster_start() would make of the cluster NAME, and whether this host can: nothing is made.
 */
int cluster_plan(const char *name, const struct cluster_options *options, struct profile *ret,
		 bool *ret_is_new, struct error *err);

/* The same for a dry run, with cluster_check_arguments() if the payload is in the cache: one that
 * is not can't be asked before it was downloaded. */
int cluster_rehearse(const char *name, const struct cluster_options *options, struct profile *ret,
		     bool *ret_is_new, struct error *err);

/* Whether the programs of PAYLOAD understand what the nodes of PROFILE that OPTIONS are about and
 * that are yet to join would tell them; see arguments_check(). */
int cluster_check_arguments(const struct profile *profile, const struct cluster_options *options,
			    const struct payload *payload, struct error *err);

/*
 * Get what the nodes of PROFILE that OPTIONS are about run: the cluster's payload, into RET, and
 * those of other versions that nodes have.  For a cluster that is offline they must be in the
 * cache.
 */
int cluster_get_payloads(const struct profile *profile, const struct cluster_options *options,
			 struct observer *observer, struct payload *ret, struct error *err);

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

/* The same with all of them, the front door and the network; kubectl is untold of the cluster
 * unless KEEP_CONTEXT. */
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

/* Whether NODE is the only control plane that there is. */
bool cluster_is_last_control_plane(const struct profile *profile, const struct node *node);

/* -EAGAIN, with the arithmetic, if etcd would have no majority while or after NODE leaves. */
int cluster_may_leave(const struct profile *profile, const struct node *node, struct error *err);

/* Take NODE out of the control plane, which goes on; another one is the primary then if it was. */
int cluster_leave(struct profile *profile, struct node *node, struct observer *observer,
		  struct error *err);

/* If NODE is the primary, make another control plane that one. */
int cluster_pass_on_primary(struct profile *profile, struct node *node, struct error *err);

/*
 * The control plane called NAME (NULL: the first that runs) if a majority of etcd's members was
 * lost: -EINVAL if it was not.
 */
int cluster_choose_survivor(const struct profile *profile, const char *name, struct node **ret_node,
			    struct error *err);

/* Make SURVIVOR the only member of etcd, and the primary; the other control planes are to join
 * again.  Each of its two starts may wait SECONDS for the API. */
int cluster_recover(struct profile *profile, struct node *survivor, unsigned seconds,
		    struct observer *observer, struct error *err);

/* Have the API forget the node called NAME; succeeds if it does not know it. */
int cluster_forget_node(const struct profile *profile, const char *name, struct error *err);

/* Untell the person's kubectl of the cluster NAME; a kubeconfig that can't be read is no reason to
 * keep a cluster, so that is only a warning. */
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

/* Start the front door unless it runs, in a place where it outlives the person's login. */
int cluster_run_front_door(const struct profile *profile, struct error *err);

/*
 * See that something listens at the API's address; costs next to nothing if it does.  With
 * reason_api_not_running: -ESRCH if the cluster does not run, -EPERM if only root could mend it.
 */
int cluster_open_front_door(const struct profile *profile, struct error *err);

/* -EBUSY with reason_api_not_running if the API can't answer because control planes are paused. */
int cluster_need_awake(const struct profile *profile, struct error *err);

/* The driver's view of a node. */
struct cluster_node {
	const struct node_driver *driver;
	struct node_spec spec;
	char *folder; /* what spec points into */
	char *payload;
	char *base;
	struct node_mount *mounts;
};

#define CLUSTER_NODE_INIT ((struct cluster_node){ NULL })

/* Whether NODE has the kubelet of another release than its cluster; all else that it runs is the
 * cluster's. */
bool cluster_node_differs(const struct profile *profile, const struct node *node);

/* The host's file that NODE has as its kubelet instead of the one of the cluster's payload, for the
 * caller to free; NULL if there is none. */
char *cluster_node_own_kubelet(const struct profile *profile, const struct node *node) must_check;

/* Fill RET for NODE; it points into PROFILE and NODE, too. */
int cluster_node_open(const struct profile *profile, const struct node *node,
		      struct cluster_node *ret, struct error *err);

/* Whether it runs and is frozen, or is shutting down. */
bool cluster_node_is_paused(const struct cluster_node *node);
bool cluster_node_is_stopping(const struct cluster_node *node);

/*
 * Restart containerd or programs of Kubernetes called NAMES in NODE, as far as they run, by killing
 * them: an API server that is asked to end takes a minute.  Who keeps them running starts them
 * again.
 */
int cluster_node_restart(const struct profile *profile, const struct node *node,
			 const struct strlist *names, int64_t deadline_ms, struct error *err);

void cluster_node_release(struct cluster_node *node);

/* Whether NODE runs and is not frozen. */
bool cluster_node_is_awake(const struct profile *profile, const struct node *node);

/* -EBUSY with reason_node_paused if NODE runs and is frozen. */
int cluster_node_need_awake(const struct profile *profile, const struct node *node,
			    struct error *err);

/* Whether NODE runs; one that can't be looked at is NODE_ABSENT. */
enum node_state cluster_node_state(const struct profile *profile, const struct node *node);
