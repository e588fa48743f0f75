/*
 * The services of a cluster, and the URLs at which this host reaches them: the port at the address
 * of a LoadBalancer, or else a node port at the address of a node that can answer.
 */
#pragma once

#include <jansson.h>
#include <stdint.h>

#include "base/error.h"
#include "base/strlist.h"
#include "record/profile.h"

struct service_port {
	char *target;  /* as minikube shows it: "http/80", or "80" for a port without a name */
	char *url;     /* NULL: it has neither an address nor a node port, or no node answers */
	char *address; /* in the URL; NULL: none */
	unsigned answer_port; /* in the URL; 0: none */
	bool is_tcp;
};

struct service {
	char *namespace;
	char *name;
	char *type;
	struct service_port *ports;
	size_t port_count;
	bool is_reachable;  /* it has an address of its own, or a node port */
	bool has_endpoints; /* at least one that is ready */
	bool has_node;      /* a node can answer */
};

/* Sorted by namespace and name. */
struct services {
	struct service *items;
	size_t count;
	size_t left_out; /* the API has more than SERVICES_MOST */
};

#define SERVICES_MOST 10000

#define SERVICES_INIT ((struct services){ NULL })

/*
 * Read SERVICES and SLICES, lists of the API.  USABLE are the nodes of PROFILE that may answer, in
 * the order of preference; a service with externalTrafficPolicy Local needs one with an endpoint.
 * SCHEME is "http" or "https"; the URLs of ports that are not TCP begin with their protocol.  All
 * text of RET is printable.
 */
void services_read(const struct profile *profile, const json_t *services, const json_t *slices,
		   const struct strlist *usable, const char *scheme, struct services *ret);

/* Ask the API for all services; see services_read(). */
int services_collect(const struct profile *profile, const char *scheme, struct services *ret,
		     struct error *err);

/* The service NAME in NAMESPACE; -ENOENT with reason_service_missing, with the namespaces that have
 * one of that name as advice. */
int services_need(const struct services *services, const char *namespace, const char *name,
		  const struct service **ret, struct error *err);

/* Fail unless this host reaches SERVICE: -ENOTSUP with reason_service_inside without an address and
 * a node port, -EAGAIN with reason_service_unreachable without an endpoint or a node. */
int service_check(const struct service *service, struct error *err);

/* Whether all URLs of TCP accept a connection within TIMEOUT_MS each, and before DEADLINE_MS. */
bool service_answers(const struct service *service, unsigned timeout_ms, int64_t deadline_ms);

void services_release(struct services *services);
