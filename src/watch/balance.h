/*
 * Services of type LoadBalancer: which addresses they have, and to which node this host sends
 * packets to each.
 *
 * Pure functions of what the API says and of probes.  The status of a service in the API is the
 * record of its address, so addresses survive restarts of everything.
 */
#pragma once

#include <jansson.h>
#include <netinet/in.h>

#include "base/strlist.h"
#include "watch/config.h"

#define BALANCE_HAS_MOST 16

/* A Service that wants an address of ours. */
struct balance_service {
	char *created;      /* when, as text that can be compared */
	char *asked;        /* spec.loadBalancerIP; NULL: none */
	struct strlist has; /* the addresses in its status, at most BALANCE_HAS_MOST */
	bool local;         /* externalTrafficPolicy Local */
};

/* An EndpointSlice of a service. */
struct balance_slice {
	char *service;        /* the service's key */
	struct strlist nodes; /* with an endpoint that is ready */
};

struct balance_node {
	struct in_addr address;
	bool ready;
};

/* Read objects of the API; NULL if OBJECT is none of ours. */
void *balance_read_service(const json_t *object);
void *balance_read_slice(const json_t *object);
void *balance_read_node(const json_t *object);
void balance_free_service(void *service);
void balance_free_slice(void *slice);
void balance_free_node(void *node);

/* The result of probes of a node. */
enum balance_pulse {
	PULSE_DEAD,
	PULSE_UNKNOWN,
	PULSE_ALIVE
};

/* An object and its key, "NAMESPACE/NAME" or "/NAME". */
struct balance_object {
	const char *key;
	const void *object;
};

/*
 * Of NODES, leave those that CONFIG names, and return how many these are.  What is known of them
 * goes to RET, which has room for all, with the addresses that CONFIG says: the root user of a node
 * may report any address, and this host connects to it.
 */
size_t balance_keep_known(struct balance_object *nodes, size_t count,
			  const struct watch_config *config, struct balance_node *ret);

/* All that is known; objects are sorted by key. */
struct balance_view {
	const struct balance_object *services;
	size_t service_count;
	const struct balance_object *slices;
	size_t slice_count;
	const struct balance_object *nodes;
	size_t node_count;
	enum balance_pulse (*pulse)(struct in_addr node, void *data);
	void *data;
};

/* Addresses for services: FIRST to LAST, without TAKEN. */
struct balance_pool {
	struct in_addr first;
	struct in_addr last;
	const struct in_addr *taken;
	size_t taken_count;
};

/* A service with its address and its node; addresses are 0 if there is none. */
struct balance_item {
	char *key;
	struct in_addr address;
	struct in_addr via;
	bool published; /* the API has exactly this address */
};

struct balance {
	struct balance_item *items; /* sorted by key */
	size_t count;
};

#define BALANCE_INIT ((struct balance){ NULL })

/*
 * Bring BALANCE up to date.  A service keeps its address.  If two have the same one, the older
 * service keeps it.  A service keeps its node as long as that is Ready, has a ready endpoint and
 * answers probes; a node that answers is preferred to one that is not known to.
 */
void balance_update(struct balance *balance, const struct balance_pool *pool,
		    const struct balance_view *view);
void balance_release(struct balance *balance);
