/* `start --dry-run`: what would be done. */

#include <stdio.h>

#include "base/cleanup.h"
#include "cmd/start-options.h"
#include "payload/payload.h"

static const char *what_happens(const struct profile *profile, const struct node *node)
{
	if (node->phase == NODE_JOINED)
		return cluster_node_state(profile, node) == NODE_RUNNING ? "runs"
									 : "would be started";
	return "would be made";
}

int start_print_plan(const char *name, const struct cluster_options *options, struct error *err)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_with(payload_release) struct payload payload = PAYLOAD_INIT;
	const struct node *node;
	bool is_new;
	int r = cluster_plan(name, options, &profile, &is_new, err);

	if (r < 0)
		return r;
	printf("Cluster \"%s\" %s.\n", name, is_new ? "would be made" : "exists");
	printf("Kubernetes: %s (%s)\n", profile.kubernetes_version,
	       payload_open(profile.kubernetes_version, &payload, NULL) == 0
		       ? "in the cache"
		       : "would be downloaded or built");
	printf("Nodes' network: %s%s\n", profile.subnet,
	       profile.offline ? ", without a way out" : "");
	printf("Pods' network: %s\n", profile.pod_subnet);
	printf("Services' network: %s\n", profile.service_subnet);
	printf("API: https://127.0.0.1:%u\n", profile.api_port);
	profile_for_each_node(node, &profile)
		printf("Node %s: %s, %s, %s\n", node->name,
		       node->control_plane ? "control plane" : "worker", node->address,
		       what_happens(&profile, node));
	printf("Nothing was made.\n");
	return 0;
}
