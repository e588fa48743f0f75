/* The configuration of a cluster's front door. */

#include "network/front-door-config.h"

#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "data/inet.h"
#include "network/network.h"
#include "network/own-registry.h"
#include "payload/registry.h"
#include "record/ports.h"
#include "record/spec.h"

static void add_backends(const struct profile *profile, const struct strlist *without,
			 struct balancer_config *config)
{
	const struct node *node;

	profile_for_each_node(node, profile) {
		cleanup_free char *address = NULL;

		/* The primary control plane must be reachable before it has joined. */
		if (!node->control_plane || (node->phase != NODE_JOINED && !node->primary) ||
		    (without && strlist_has(without, node->name)))
			continue;
		address = xasprintf("%s:%d", node->address, API_SERVER_PORT);
		balancer_config_add_backend(config, node->name, address);
	}
}

/* DNS queries are relayed to the host's servers, which may listen on loopback only.  The front
 * door, which runs on the host, can reach those. */
static void add_dns(const struct profile *profile, const char *resolv,
		    struct balancer_config *config)
{
	config->dns_listen = xasprintf("%s:53", profile->gateway);
	if (!profile->offline)
		network_parse_resolv(resolv, &config->dns_upstream);
}

/* The origins that are served.  Connections are limited per origin. */
static void add_origins(const struct profile *profile, struct balancer_config *config)
{
	const struct node *node;

	strlist_add(&config->networks, profile->subnet);
	strlist_add(&config->networks, profile->pod_subnet);
	if (profile->ipv6_prefix)
		strlist_add(&config->networks, profile->ipv6_prefix);
	profile_for_each_node(node, profile)
		balancer_config_add_origin(config, node->address, node->pod_cidr);
}

/* A forwarded connection goes to the first node that accepts it, starting with the primary: any
 * node accepts connections to a service, but only one has a pod's host port. */
static int add_forwards(const struct profile *profile, struct balancer_config *config,
			struct error *err)
{
	const struct node *node;
	const char *word;

	strlist_for_each(word, &profile->ports) {
		struct balancer_forward *forward;
		cleanup_free char *address = NULL;
		struct port_spec port;
		int r = spec_parse_port(word, &port, err);

		if (r < 0)
			return r;
		address = inet_print_address(port.address);
		forward = balancer_config_add_forward(config);
		forward->listen = xasprintf("%s:%u", address, port.host_port);
		for (int primary = 1; primary >= 0; primary--)
			profile_for_each_node(node, profile)
				if (node->primary == primary &&
				    (!port.node || strcmp(port.node, node->name) == 0))
					strlist_addf(&forward->to, "%s:%u", node->address,
						     port.node_port);
	}
	return 0;
}

/* The registry, unless its program is missing in the cache: the API must not depend on it. */
static void add_registry(const struct profile *profile, struct balancer_config *config)
{
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	struct balancer_registry *registry = &config->registry;

	if (!profile->registry_port)
		return;
	if (registry_program_open(&registry->program, &why) < 0) {
		log_warning("the cluster's registry does not run: %s", why.text);
		return;
	}
	registry->data = xasprintf("%s/" REGISTRY_DATA, profile->dir);
	strlist_addf(&registry->listen, "127.0.0.1:%u", profile->registry_port);
	strlist_addf(&registry->listen, "%s:%u", profile->gateway, profile->registry_port);
}

int front_door_config(const struct profile *profile, const struct strlist *without,
		      const char *resolv, struct balancer_config *ret, struct error *err)
{
	cleanup_with(balancer_config_release) struct balancer_config config = BALANCER_CONFIG_INIT;
	int r;

	strlist_addf(&config.listen, "%s:%d", profile->gateway, FRONT_DOOR_PORT);
	strlist_addf(&config.listen, "127.0.0.1:%u", profile->api_port);
	add_backends(profile, without, &config);
	add_dns(profile, resolv, &config);
	add_origins(profile, &config);
	config.bridge = xstrdup(profile->bridge);
	config.rules = network_rules(profile);
	network_host_ports(profile, &config.host_ports);
	add_registry(profile, &config);
	r = add_forwards(profile, &config, err);
	if (r < 0)
		return r;
	*ret = config;
	config = BALANCER_CONFIG_INIT;
	return 0;
}
