/* `node list`: the nodes of a cluster and their addresses. */

#include <jansson.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "cli/table.h"
#include "cmd/command.h"

static struct {
	const char *output;
} arg = {
	.output = "text",
};

static const struct opt options[] = {
	OPT_CHOICE('o', "output", &arg.output, "text|wide|json",
		   "names and addresses, all that is known, or that as JSON"),
	OPT_END,
};

static const char *or_none(const char *text)
{
	return text ? text : "-";
}

static const char *roles(const struct node *node)
{
	if (!node->control_plane)
		return "worker";
	if (node->primary)
		return node->worker ? "control-plane (primary),worker" : "control-plane (primary)";
	return node->worker ? "control-plane,worker" : "control-plane";
}

static void print_wide(const struct profile *profile)
{
	cleanup_with(table_release) struct table table = TABLE_INIT;
	const struct node *node;

	TABLE_ROW(&table, "NAME", "IP", "ROLES", "VERSION", "DRIVER", "POD-CIDR", "CPUS", "MEMORY");
	profile_for_each_node(node, profile) {
		cleanup_free char *cpus = xasprintf("%u", node->cpus);
		cleanup_free char *memory = xasprintf(
			"%lluMi", (unsigned long long)(node->memory_bytes >> 20));

		TABLE_ROW(&table, node->name, or_none(node->address), roles(node),
			  or_none(node->kubernetes_version), or_none(node->driver),
			  or_none(node->pod_cidr), node->cpus ? cpus : "host's",
			  node->memory_bytes ? memory : "host's");
	}
	table_print(&table, stdout);
}

static void print_json(const struct profile *profile)
{
	json_auto_t *list = json_array();
	const struct node *node;

	profile_for_each_node(node, profile)
		json_array_append_new(
			list,
			json_pack("{s:s, s:s?, s:b, s:b, s:b, s:s?, s:s?, s:s?, s:i, s:I}", "Name",
				  node->name, "IP", node->address, "ControlPlane",
				  node->control_plane, "Worker", node->worker, "Primary",
				  node->primary, "KubernetesVersion", node->kubernetes_version,
				  "Driver", node->driver, "PodCIDR", node->pod_cidr, "CPUs",
				  (int)node->cpus, "MemoryBytes", (json_int_t)node->memory_bytes));
	(void)json_dumpf(list, stdout, JSON_COMPACT);
	printf("\n");
}

static int run(struct command_context *ctx, arg_unused struct error *err)
{
	const struct node *node;

	if (strcmp(arg.output, "json") == 0)
		print_json(ctx->profile);
	else if (strcmp(arg.output, "wide") == 0)
		print_wide(ctx->profile);
	else
		profile_for_each_node(node, ctx->profile)
			printf("%s\t%s\n", node->name, node->address ? node->address : "");
	return 0;
}

const struct command cmd_node_list = {
	.name = "list",
	.summary = "list the nodes of a cluster with their addresses",
	.flags = COMMAND_NEEDS_CLUSTER,
	.options = options,
	.examples = "manykube node list\n"
		    "manykube node list -p dev -o wide\n",
	.run = run,
};
