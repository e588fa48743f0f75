/* `start --dry-run`: print what would be done. */

#include <stdio.h>

#include "base/cleanup.h"
#include "cli/node-table.h"
#include "cmd/start-options.h"
#include "describe/choices.h"
#include "node/cluster-node.h"
#include "payload/payload.h"
#include "plan/check.h"
#include "plan/node-need.h"
#include "record/options.h"

static const char *where_it_is(const struct profile *profile, const char *version)
{
	cleanup_with(payload_release) struct payload payload = PAYLOAD_INIT;

	if (payload_open(version, &payload, NULL) == 0)
		return "in the cache";
	return profile->offline ? "not in the cache, so an offline start would fail"
				: "would be downloaded or built";
}

/* The resources of NODE: "1 CPU, 2.0Gi of memory, a disk of 20Gi". */
static void print_size(const struct node *node)
{
	cleanup_free char *memory = node_table_bytes(node_table_memory(node));
	cleanup_free char *disk = node->disk_bytes ? node_table_bytes(node->disk_bytes) : NULL;
	unsigned cpus = node_table_cpus(node);

	printf("%s%u CPU%s, %s%s of memory", node->cpus ? "" : "all ", cpus, cpus == 1 ? "" : "s",
	       node->memory_bytes ? "" : "all ", memory);
	if (disk)
		printf(", a disk of %s", disk);
}

static void print_node(const struct profile *profile, const struct node *node)
{
	printf("Node %s: %s, %s, %s; ", node->name,
	       node->control_plane ? "control plane" : "worker", node->address,
	       node_need_prospect(node_need_find(profile, node)));
	print_size(node);
	if (cluster_node_differs(profile, node))
		printf(", with the kubelet of %s (%s)", node->kubernetes_version,
		       where_it_is(profile, node->kubernetes_version));
	printf("\n");
}

/* The changes of PLAN to the existing cluster. */
static void print_changes(const struct plan *plan)
{
	cleanup_with(strlist_release) struct strlist sentences = STRLIST_INIT;
	const char *sentence;

	choices_describe(&plan->before, &plan->profile, &sentences);
	strlist_for_each(sentence, &sentences)
		printf("%s\n", sentence);
}

int start_print_plan(const char *name, const struct cluster_options *options, struct error *err)
{
	cleanup_with(plan_release) struct plan plan = PLAN_INIT;
	const struct profile *profile = &plan.profile;
	const struct node *node;
	int r = cluster_rehearse(name, options, &plan, err);

	if (r < 0)
		return r;
	printf("Cluster \"%s\" %s.\n", name, plan.is_new ? "would be created" : "exists");
	printf("Kubernetes: %s (%s)\n", profile->kubernetes_version,
	       where_it_is(profile, profile->kubernetes_version));
	printf("Nodes' network: %s%s\n", profile->subnet, profile->offline ? ", isolated" : "");
	printf("Pods' network: %s\n", profile->pod_subnet);
	printf("Services' network: %s\n", profile->service_subnet);
	if (profile->ipv6_prefix)
		printf("IPv6: all of them also have addresses in %s\n", profile->ipv6_prefix);
	printf("API: https://127.0.0.1:%u\n", profile->api_port);
	profile_for_each_node(node, profile)
		print_node(profile, node);
	if (!plan.is_new)
		print_changes(&plan);
	printf("Nothing was changed.\n");
	return 0;
}
