/* A node of a cluster, as its driver sees it. */
#pragma once

#include "driver/driver.h"
#include "record/profile.h"

/* The driver's view of a node. */
struct cluster_node {
	const struct node_driver *driver;
	struct node_spec spec;
	char *dir; /* SPEC points into it */
	char *payload;
	char *shared;
	char *base;
	struct node_mount *mounts;
};

#define CLUSTER_NODE_INIT ((struct cluster_node){ NULL })

/* Whether NODE has a kubelet of another release than its cluster; everything else that it runs has
 * the cluster's release. */
bool cluster_node_differs(const struct profile *profile, const struct node *node);

/* The file on the host that NODE uses as its kubelet instead of that of the cluster's payload, for
 * the caller to free; NULL if there is none. */
char *cluster_node_own_kubelet(const struct profile *profile, const struct node *node) must_check;

/* Fill RET for NODE; RET also points into PROFILE and NODE. */
int cluster_node_open(const struct profile *profile, const struct node *node,
		      struct cluster_node *ret, struct error *err);

/* Whether any node of PROFILE has DRIVER. */
bool cluster_uses_driver(const struct profile *profile, const struct node_driver *driver);

/* Whether it runs and is frozen, or is shutting down. */
bool cluster_node_is_paused(const struct cluster_node *node);
bool cluster_node_is_stopping(const struct cluster_node *node);

/* Whether it runs and is neither frozen nor shutting down. */
bool cluster_node_is_at_work(const struct cluster_node *node);

/*
 * Kill the programs of Kubernetes, or containerd, called NAMES in NODE if they run.  Their
 * supervisor starts them again.  They are killed because an API server takes a minute to shut down.
 */
int cluster_node_restart(const struct profile *profile, const struct node *node,
			 const struct strlist *names, int64_t deadline_ms, struct error *err);

/* Set or remove AT's routes to the pods of OTHER, of each family that the cluster has. */
int cluster_node_route(const struct cluster_node *at, const struct node *other, bool remove,
		       struct error *err);

/* Likewise to the pods of all nodes but NODE, which AT is. */
int cluster_node_route_all(const struct profile *profile, const struct node *node,
			   const struct cluster_node *at, bool remove, struct error *err);

void cluster_node_release(struct cluster_node *node);

/* Whether NODE runs and is not frozen. */
bool cluster_node_is_awake(const struct profile *profile, const struct node *node);

/* -EBUSY with reason_node_paused if NODE runs and is frozen. */
int cluster_node_need_awake(const struct profile *profile, const struct node *node,
			    struct error *err);

/* Whether nothing is left on NODE, which has joined, of what kubeadm created there: its directory
 * was removed, or was created again since. */
bool cluster_node_is_lost(const struct profile *profile, const struct node *node);

/* Whether NODE runs; NODE_ABSENT if that cannot be determined. */
enum node_state cluster_node_state(const struct profile *profile, const struct node *node);
