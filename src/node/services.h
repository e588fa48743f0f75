/*
 * The services of a node that can hang: they accept connections, but do not answer.
 *
 * Whoever supervises a service (the agent or the kubelet) starts it again only when it has exited.
 */
#pragma once

#include "node/cluster-node.h"

struct node_service {
	const char *name;
	const char *step;      /* the step in which it is restarted */
	const char *place;     /* see node_driver.ask() */
	const char *words;     /* what any live one answers, even if only with an error */
	const char *dependent; /* a service that has to be restarted with it, or NULL */
	const char *after;     /* the service without which it does not answer, or NULL */
	bool of_kubernetes;    /* a static pod of control planes */
	bool has_status;       /* `status` looks at it in another way */
};

/* The services, in the order in which they are to be repaired; NULL after the last one. */
const struct node_service *node_service_at(size_t number);

/* -ETIMEDOUT if SERVICE hangs, that is, does not answer within TIMEOUT_MS (at most 9000); another
 * negative code if it does not run, or does not listen yet. */
int node_service_ask(const struct cluster_node *at, const struct node_service *service,
		     int timeout_ms);

/* Whether NODE is to have SERVICE, and knows it: static pods are made when it joins. */
bool node_service_is_due(const struct node_service *service, const struct node *node);

/* The first service of NODE, except its kubelet and API server, that hangs; NULL if none does, or
 * if the caller may not ask. */
const char *node_services_find_hung(const struct cluster_node *at, const struct node *node,
				    int timeout_ms);
