/* The status of a cluster: the current state of every node's parts.  Read-only; needs no root. */
#pragma once

#include <jansson.h>

#include "record/profile.h"

/* The words are those of minikube: "Running", "Stopped", "Paused", "Nonexistent". */
struct node_status {
	const struct node *node; /* points into the profile */
	const char *host;
	const char *kubelet;      /* also "Unresponsive": it runs, but does not answer */
	const char *apiserver;    /* "Irrelevant" for a worker; also "Unresponsive" */
	const char *kubeconfig;   /* "Irrelevant" for a worker; like in minikube, the word of
				     `host` for a control plane that does not run */
	uint64_t memory_bytes;    /* memory in use; 0 if unknown, like the next */
	uint64_t disk_bytes;      /* space in use on its own disk */
	uint64_t disk_size_bytes; /* actual size of its own disk; 0 if unknown */
	const char *readiness;    /* from the API: a word of readiness.h */
	char *pressure;           /* "MemoryPressure,DiskPressure", or NULL */
	char *why;                /* what is wrong with it, or NULL */
	const char *trouble;      /* what is wrong with its kernel, or was when it ended, or NULL */
	const char *broken;       /* a service beside the kubelet and the API server that does not
				     work ("containerd"), or NULL */
	const char *broken_word;  /* its word: "Stopped" or "Unresponsive" */
};

struct cluster_status {
	struct node_status *nodes;
	size_t count;
	int64_t deadline_ms; /* when a waiting caller wants to have an answer */
	json_t *api_nodes;   /* the API's list of nodes; NULL if it gave none */
	char *cannot_ask;    /* why the API cannot be asked, although it may run; or NULL */

	/* "Running", or "Stopped" if API servers run that cannot be reached through it; NULL if
	 * none runs, or if unknown. */
	const char *front_door;

	/* Whether the user's kubeconfig points at the cluster: "Configured", "Misconfigured",
	 * "Nonexistent".  Does not depend on what runs. */
	const char *kubeconfig;

	/* Why a start cannot put the cluster into the user's kubeconfig, which does not point at
	 * it: the file is damaged or cannot be written; NULL if it can. */
	char *kubeconfig_damage;
};

#define CLUSTER_STATUS_INIT ((struct cluster_status){ NULL })

/*
 * Examine all nodes, and ask the API about them.  The timeout is 2 s for all API servers together,
 * 3 s for kubelets, and 3 s for each other service that hangs, but not for all if many do.
 * BUSY_WITH is the command that works on the cluster ("manykube start") or NULL.
 */
int cluster_status_collect(const struct profile *profile, const char *busy_with,
			   struct cluster_status *ret, struct error *err);
void cluster_status_release(struct cluster_status *status);

/*
 * The state of the API server on NODE, which is asked directly, not through the front door, because
 * each has its own state.  "Unknown" if the cluster's kubeconfig is missing, damaged, or not
 * readable for the caller.
 */
const char *cluster_status_api(const struct profile *profile, const struct node *node,
			       unsigned timeout_ms);

/* Whether the node was only registered, and has never been made: nothing of it is broken. */
bool node_status_is_registered(const struct node_status *node);

/*
 * The exit status of `status`, a sum: 1 a node does not run; 2 a kubelet, an API server,
 * another service of a node or the front door does not run, even if only because its node is
 * stopped or paused; 4 the kubeconfig does not point at the cluster, if a control plane is among
 * the nodes; 8 a node whose kubelet and API server run is not Ready in the API, or is short of
 * memory, disk space or process numbers.
 */
int cluster_status_code(const struct cluster_status *status);
