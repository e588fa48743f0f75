/*
 * Pods, namespaces and network policies, as far as policies need them, read from objects of the
 * API.
 *
 * What cannot be read is taken for less than it might be: a peer matches nothing, and a policy
 * still isolates its pods.
 */
#pragma once

#include <jansson.h>

#include "base/strlist.h"
#include "policy/address.h"

struct policy_label {
	char *key;
	char *value;
};

struct policy_labels {
	struct policy_label *items;
	size_t count;
};

enum policy_operator {
	POLICY_IN,
	POLICY_NOT_IN,
	POLICY_EXISTS,
	POLICY_ABSENT,
	POLICY_NEVER
};

struct policy_requirement {
	char *key;
	enum policy_operator operator;
	struct strlist values;
};

/* All requirements must hold; without any, it matches everything. */
struct policy_selector {
	struct policy_requirement *items;
	size_t count;
};

bool policy_selects(const struct policy_selector *selector, const struct policy_labels *labels);

enum policy_protocol {
	POLICY_TCP,
	POLICY_UDP,
	POLICY_SCTP,
	POLICY_PROTOCOLS
};

struct policy_port {
	enum policy_protocol protocol;
	char *name;     /* of a container's port; NULL: FIRST to LAST */
	unsigned first; /* 0 to 65535: all */
	unsigned last;
};

/* Pods in namespaces, or a block of addresses. */
struct policy_peer {
	bool is_pods;
	bool own_namespace; /* that of the policy, instead of NAMESPACES */
	struct policy_selector pods;
	struct policy_selector namespaces;
	struct policy_ranges block;
};

struct policy_rule {
	bool any_peer; /* the list of peers is empty */
	struct policy_peer *peers;
	size_t peer_count;
	bool any_port; /* likewise */
	struct policy_port *ports;
	size_t port_count;
};

enum policy_direction {
	POLICY_INGRESS,
	POLICY_EGRESS,
	POLICY_DIRECTIONS
};

struct policy {
	char *namespace;
	struct policy_selector pods;
	bool isolates[POLICY_DIRECTIONS];
	struct policy_rule *rules[POLICY_DIRECTIONS];
	size_t rule_count[POLICY_DIRECTIONS];
};

struct policy_pod_port {
	char *name;
	enum policy_protocol protocol;
	unsigned number;
};

struct policy_pod {
	char *namespace;
	char *node;
	struct policy_labels labels;
	struct policy_address *addresses; /* none while it starts */
	size_t address_count;
	struct policy_pod_port *ports; /* those with a name */
	size_t port_count;
};

struct policy_namespace {
	char *name;
	struct policy_labels labels;
};

/* Read objects of the API; NULL if OBJECT does not count: a pod that is not scheduled yet, has
 * ended, or has the network of its node. */
void *policy_read_pod(const json_t *object);
void *policy_read_namespace(const json_t *object);
void *policy_read_policy(const json_t *object);
void policy_free_pod(void *pod);
void policy_free_namespace(void *namespace);
void policy_free_policy(void *policy);
