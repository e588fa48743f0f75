/*
 * The health of a cluster as one number and one name: those of minikube's cluster layout.
 *
 * It depends on the majority of the control planes that have joined, since etcd has a member on
 * each: with two of three, the cluster works (it is Degraded), with one of two it does not.  A
 * cluster is also Degraded if any node does not run, whoever stopped it, is not Ready or is short
 * of a resource, and if the front door reaches no API server.
 */
#pragma once

#include "look/status.h"

enum health {
	HEALTH_STARTING = 100,
	HEALTH_PAUSING = 101,
	HEALTH_UNPAUSING = 102,
	HEALTH_STOPPING = 110,
	HEALTH_DELETING = 120,
	HEALTH_OK = 200,
	HEALTH_HAPPY = 201,    /* healthy, and tolerates the loss of a control plane */
	HEALTH_DEGRADED = 204, /* works, but a part of it does not */
	HEALTH_NOT_FOUND = 404,
	HEALTH_STOPPED = 405,
	HEALTH_PAUSED = 418,
	HEALTH_ERROR = 500, /* nodes run, but not enough control planes */
	HEALTH_UNKNOWN = 520,
};

/* "OK", "HAppy", "Degraded". */
const char *health_name(enum health health);

/* The same for users: "Running" if the cluster is healthy. */
const char *health_word(enum health health);

/* The health of a part, from a word of struct node_status. */
enum health health_of_word(const char *word);

/* The health of a node's host, kubelet, API server and other services, whatever the API reports. */
enum health health_of_parts(const struct node_status *status);

/* The same including the API's report: HEALTH_ERROR for a node that is not Ready, HEALTH_DEGRADED
 * for one that is short of a resource. */
enum health health_of_node(const struct node_status *status);

/*
 * The health of the cluster; BUSY_WITH is the command that works on it ("manykube start") or NULL.
 */
enum health health_of_cluster(const struct cluster_status *status, const char *busy_with);

/* HEALTH, which is that of the cluster PROFILE: one that is well is Degraded while its upgrade or
 * its deletion has not ended, whatever works on it. */
enum health health_if_finished(const struct profile *profile, enum health health);

/* The control planes: those with a member of etcd, and how many of these work; and the others, each
 * counted once. */
struct quorum {
	unsigned members;
	unsigned healthy;   /* of the members */
	unsigned running;   /* likewise: their nodes run and are not paused */
	unsigned answering; /* likewise: their API servers answer */
	unsigned paused;    /* likewise */
	unsigned failed;    /* likewise: down while others run and no command is at work */
	unsigned stopped;
	unsigned joining;
	unsigned leaving; /* being stopped or deleted */
	unsigned outside; /* running, but no known command makes them join or leave */
};

/* BUSY_WITH is the command that works on the cluster ("manykube node stop") or NULL.  It is needed
 * because a control plane that leaves has the same record as one that has yet to join. */
struct quorum health_quorum(const struct cluster_status *status, const char *busy_with);

/* Whether etcd has a majority.  An API server is ready only while etcd answers it, so one that
 * answers is proof, unless too few nodes run: others may just be slow. */
bool quorum_has_majority(const struct quorum *quorum);

/* The number of all control planes. */
unsigned quorum_total(const struct quorum *quorum);

/* How many more members may fail. */
unsigned quorum_may_fail(const struct quorum *quorum);

/* "2 of 3 healthy, tolerates no failure; 1 is stopped" or, without a majority, what to do; for the
 * caller to free. */
char *quorum_words(const struct quorum *quorum) must_check;
