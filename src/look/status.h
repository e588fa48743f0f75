/* How a cluster is: what every node's parts are doing right now.  Only reads; needs no root. */
#pragma once

#include <jansson.h>

#include "record/profile.h"

/* Words as minikube's users know them: "Running", "Stopped", "Paused", "Nonexistent". */
struct node_status {
	const struct node *node; /* of the profile that was asked about */
	const char *host;
	const char *kubelet;    /* also "Unresponsive": it runs, but does not answer */
	const char *apiserver;  /* "Irrelevant" for a worker */
	const char *kubeconfig; /* "Irrelevant" for a worker; as minikube has it, the word of host
				   on a control plane that does not run */
	uint64_t memory_bytes;  /* what it holds of the host's; 0 if that is not known, as is the
				   next */
	uint64_t disk_bytes;    /* what is in use of its own disk */
	const char *readiness;  /* what the API says of it: a word of readiness.h */
	char *pressure;         /* "MemoryPressure,DiskPressure", or NULL */
	char *why;              /* what is wrong with it, or NULL */
};

struct cluster_status {
	struct node_status *nodes;
	size_t count;
	int64_t deadline_ms; /* when somebody who waits for an answer wants to have it */
	json_t *api_nodes;   /* the API's list of nodes; NULL if it gave none */
	char *cannot_ask;    /* why the API can't be asked, although it may run; or NULL */

	/* "Running", or "Stopped" while API servers run that cannot be reached through it; NULL if
	 * none runs, or if that can't be said. */
	const char *front_door;

	/* Whether the user's kubeconfig points at the cluster: "Configured", "Misconfigured",
	 * "Nonexistent".  That does not depend on what runs. */
	const char *kubeconfig;

	/* What keeps a start from putting the cluster into the user's kubeconfig, which does not
	 * point at it: the file is damaged or can't be written; NULL if nothing does. */
	char *kubeconfig_damage;
};

#define CLUSTER_STATUS_INIT ((struct cluster_status){ NULL })

/*
 * Look at all nodes, and ask the API about them; an API server that does not answer is not waited
 * for longer than 2 s, all of them together, and kubelets not for longer than 3 s.  BUSY_WITH is
 * the command that works on the cluster
 * ("manykube start") or NULL.
 */
int cluster_status_collect(const struct profile *profile, const char *busy_with,
			   struct cluster_status *ret, struct error *err);
void cluster_status_release(struct cluster_status *status);

/* What the API server of NODE is doing: each has a state of its own, so it is not the front door
 * that is asked.  "Unknown" if the cluster's kubeconfig is closed to the caller, gone or damaged.
 */
const char *cluster_status_api(const struct profile *profile, const struct node *node,
			       unsigned timeout_ms);

/*
 * The exit status of `status`, added up: 1 a node does not run; 2 a kubelet, an API server or the
 * front door does not, be it only because its node is stopped or paused; 4 the kubeconfig does not
 * point at the cluster, if a control plane is among the nodes; 8 the API does not call a node Ready
 * whose kubelet and API server run, or such a node is short of memory, disk space or process
 * numbers.
 */
int cluster_status_code(const struct cluster_status *status);
