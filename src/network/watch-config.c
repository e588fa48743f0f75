/* What the process that watches the cluster's API is to do. */

#include "network/watch-config.h"

#include <string.h>

#include "base/alloc.h"
#include "data/inet.h"
#include "record/cni.h"

/* Addresses of services in a subnet that has more than nodes can have. */
#define SERVICES_FIRST 256
#define SERVICES_MOST  256

static int plan_pool(const struct subnet *subnet, struct watch_config *ret, struct error *err)
{
	uint64_t size = UINT64_C(1) << (32 - subnet->prefix);
	uint64_t first = size > SERVICES_FIRST ? SERVICES_FIRST : size / 2;
	uint64_t last = size - 2;
	int r;

	if (last >= first + SERVICES_MOST)
		last = first + SERVICES_MOST - 1;
	r = inet_nth_address(subnet, first, &ret->first, err);
	return r < 0 ? r : inet_nth_address(subnet, last, &ret->last, err);
}

int network_watch_config(const struct profile *profile, struct watch_config *ret, struct error *err)
{
	struct watch_config config = { .server = xasprintf("127.0.0.1:%u", profile->api_port) };
	/* Another CNI brings enforcement of its own. */
	bool has_pod_network = cni_is_ours(profile->cni);
	const struct node *node;
	struct subnet subnet;
	int r = inet_parse_subnet(profile->subnet, &subnet, err);

	config.policies = has_pod_network && (!profile->network_policy ||
					      strcmp(profile->network_policy, "false") != 0);
	if (r == 0)
		r = plan_pool(&subnet, &config, err);
	profile_for_each_node(node, profile) {
		struct in_addr address;

		if (r == 0)
			r = inet_parse_address(node->address, &address, err);
		if (r == 0)
			watch_config_add_node(&config, node->name, address,
					      has_pod_network ? node->pod_cidr : NULL,
					      has_pod_network ? node->pod_cidr6 : NULL);
	}
	if (r < 0) {
		watch_config_release(&config);
		return r;
	}
	*ret = config;
	return 0;
}
