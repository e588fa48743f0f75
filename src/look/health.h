/*
 * How well a cluster is, as one number and one name: those of minikube's cluster layout.
 *
 * It is the majority of the control planes that have joined which decides, since etcd has a member
 * on each: two of three carry the cluster (it is Degraded), one of two does not.  A cluster is
 * Degraded as well if any node does not run, whoever stopped it, or is not Ready or short of
 * something, and if the front door leads to no API server.
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
	HEALTH_HAPPY = 201,    /* all is well, and a control plane may be lost */
	HEALTH_DEGRADED = 204, /* it works, but something of it does not */
	HEALTH_NOT_FOUND = 404,
	HEALTH_STOPPED = 405,
	HEALTH_PAUSED = 418,
	HEALTH_ERROR = 500, /* nodes run, but not enough control planes */
	HEALTH_UNKNOWN = 520,
};

/* "OK", "HAppy", "Degraded". */
const char *health_name(enum health health);

/* The same for people: "Running" where all is well. */
const char *health_word(enum health health);

/* Of a part, whose word is one of struct node_status'. */
enum health health_of_word(const char *word);

/* Of a node's host, kubelet and API server; whatever the API says of it. */
enum health health_of_parts(const struct node_status *status);

/* The same with what the API says: HEALTH_ERROR for a node that is not Ready, HEALTH_DEGRADED for
 * one that is short of something. */
enum health health_of_node(const struct node_status *status);

/* Of the whole; BUSY_WITH is the command that works on it just now ("manykube start") or NULL. */
enum health health_of_cluster(const struct cluster_status *status, const char *busy_with);

/* The control planes: those that have a member of etcd, and how many of them work; and the others,
 * each of which is counted once. */
struct quorum {
	unsigned members;
	unsigned healthy; /* of the members */
	unsigned paused;  /* likewise */
	unsigned stopped;
	unsigned joining;
	unsigned leaving; /* being stopped or deleted */
	unsigned outside; /* they run, and nobody is known to have them join or leave */
};

/* BUSY_WITH is the command that works on the cluster ("manykube node stop") or NULL: the record of
 * a control plane that leaves is that of one that has yet to join. */
struct quorum health_quorum(const struct cluster_status *status, const char *busy_with);

/* All control planes. */
unsigned quorum_total(const struct quorum *quorum);

/* How many more may fail. */
unsigned quorum_may_fail(const struct quorum *quorum);

/* "2 of 3 healthy, tolerates no failure; 1 is stopped", or what to do where there is no majority;
 * for the caller to free. */
char *quorum_words(const struct quorum *quorum) must_check;
