/* What kubeadm's configuration says of addresses of both families. */

#include "kubeadm/families.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "data/inet6.h"

/* ONE and, unless it is NULL, ANOTHER, for the caller to free. */
static char *list_both(const char *one, const char *another)
{
	return xasprintf("%s%s%s", one, another ? "," : "", another ? another : "");
}

char *kubeadm_node_addresses(const struct node *node)
{
	return list_both(node->address, node->address6);
}

json_t *kubeadm_networking(const struct profile *profile)
{
	cleanup_free char *services = NULL;
	cleanup_free char *services6 = NULL;
	cleanup_free char *pods = NULL;
	cleanup_free char *pods6 = NULL;
	struct subnet6 prefix;

	if (profile->ipv6_prefix && inet6_parse_subnet(profile->ipv6_prefix, &prefix, NULL) == 0) {
		struct subnet6 of_services = inet6_services(&prefix);
		struct subnet6 of_pods = inet6_pods(&prefix);

		services6 = inet6_print_subnet(&of_services);
		pods6 = inet6_print_subnet(&of_pods);
	}
	services = list_both(profile->service_subnet, services6);
	pods = list_both(profile->pod_subnet, pods6);
	return json_pack("{s:s, s:s, s:s}", "podSubnet", pods, "serviceSubnet", services,
			 "dnsDomain", profile->dns_domain);
}
