/* How a cluster is: what every node's parts are doing right now.  Only reads; needs no root. */
#pragma once

#include "cluster/profile.h"

/* Words as minikube's users know them: "Running", "Stopped", "Paused", "Nonexistent". */
struct node_status {
	const struct node *node; /* of the profile that was asked about */
	const char *host;
	const char *kubelet;
	const char *apiserver;  /* "Irrelevant" for a worker */
	const char *kubeconfig; /* "Irrelevant" for a worker */
	uint64_t memory_bytes;  /* what it holds of the host's; 0 if that is not known, as is the
				   next */
	uint64_t disk_bytes;    /* what is in use of its own disk */
};

struct cluster_status {
	struct node_status *nodes;
	size_t count;
	int64_t deadline_ms; /* when somebody who waits for an answer wants to have it */
};

#define CLUSTER_STATUS_INIT ((struct cluster_status){ NULL })

/* Look at all nodes; an API server that does not answer is not waited for longer than 2 s, all of
 * them together. */
int cluster_status_collect(const struct profile *profile, struct cluster_status *ret,
			   struct error *err);
void cluster_status_release(struct cluster_status *status);

/* What the API server of NODE is doing: each has a state of its own, so it is not the front door
 * that is asked. */
const char *cluster_status_api(const struct profile *profile, const struct node *node,
			       unsigned timeout_ms);

/* The exit status of `status`: 1 a node is not running, 2 a kubelet or API server, 4 the
 * kubeconfig; added up. */
int cluster_status_code(const struct cluster_status *status);

/* What the agent's state file TEXT says of the service NAME: its state ("running"), for the caller
 * to free; NULL if nothing. */
char *cluster_status_service(const char *text, const char *name) must_check;
