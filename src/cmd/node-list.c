/* `node list`: the nodes of a cluster and their addresses. */

#include <jansson.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cli/node-table.h"
#include "cli/text.h"
#include "cmd/node-change.h"
#include "fail/failure.h"

static struct {
	const char *output;
} arg = {
	.output = "text",
};

static const struct opt options[] = {
	OPT_CHOICE('o', "output", &arg.output, "text|wide|json",
		   "output format: names and addresses, the table of 'manykube status', or the "
		   "record"),
	OPT_END,
};

/* Print the table of `status` for the first SHOWN nodes of PROFILE. */
static int print_wide(const struct profile *profile, size_t shown, struct error *err)
{
	cleanup_with(cluster_status_release) struct cluster_status status = CLUSTER_STATUS_INIT;
	cleanup_with(cluster_detail_release) struct cluster_detail detail = CLUSTER_DETAIL_INIT;
	cleanup_free char *busy_with = profile_lock_holder(profile->name);
	struct node_table_look look = { .colour = text_has_colour(STDOUT_FILENO) };
	int r = cluster_status_collect(profile, busy_with, &status, err);

	if (r < 0)
		return r;
	cluster_detail_collect(profile, &status, &detail);
	status.count = shown;
	(void)node_table_print(&status, &detail, &look, stdout);
	return 0;
}

static void print_json(const struct profile *profile, const struct node *nodes, size_t count)
{
	json_auto_t *list = json_array();

	for (const struct node *node = nodes; node < nodes + count; node++) {
		json_t *object = json_pack(
			"{s:s, s:s?, s:s*, s:b, s:b, s:b, s:s?, s:s?, s:s?, s:s*, s:i, s:I, s:I, "
			"s:s?}",
			"Name", node->name, "IP", node->address, "IPv6", node->address6,
			"ControlPlane", node->control_plane, "Worker", node->worker, "Primary",
			node->primary, "KubernetesVersion", node->kubernetes_version, "Driver",
			node->driver, "PodCIDR", node->pod_cidr, "PodCIDRv6", node->pod_cidr6,
			"CPUs", (int)node->cpus, "MemoryBytes", (json_int_t)node->memory_bytes,
			"DiskBytes", (json_int_t)node->disk_bytes, "BaseImage", node->base_image);

		failures_add_json(profile, node->name, object);
		json_array_append_new(list, object);
	}
	(void)json_dumpf(list, stdout, JSON_COMPACT);
	printf("\n");
}

static int run(struct command_context *ctx, struct error *err)
{
	const struct node *nodes = ctx->profile->nodes;
	size_t shown = node_sort(ctx, ctx->profile);

	if (strcmp(arg.output, "json") == 0) {
		print_json(ctx->profile, nodes, shown);
		return 0;
	}
	if (shown == 0 && !ctx->quiet)
		fprintf(stderr, "Cluster \"%s\" has no workers.\n", ctx->profile_name);
	else if (strcmp(arg.output, "wide") == 0)
		return print_wide(ctx->profile, shown, err);
	for (const struct node *node = nodes; node < nodes + shown; node++) {
		cleanup_free char *failures = failures_describe(ctx->profile, node->name);

		printf("%s\t%s%s%s%s%s\n", node->name, node->address ?: "",
		       node->address6 ? "\t" : "", node->address6 ?: "", failures ? "\t" : "",
		       failures ?: "");
	}
	return 0;
}

const struct command cmd_node_list = {
	.name = "list",
	.elsewhere = "ls|get|show|ps",
	.summary = "list the nodes of a cluster with their addresses",
	.flags = COMMAND_NEEDS_CLUSTER,
	.options = options,
	.examples = "manykube node list\n"
		    "manykube node list -p dev -o wide\n",
	.run = run,
};

const struct command cmd_worker_list = {
	.name = "list",
	.elsewhere = "ls|get|show|ps",
	.summary = "list the workers of a cluster with their addresses",
	.flags = COMMAND_NEEDS_CLUSTER | COMMAND_WORKERS,
	.options = options,
	.examples = "manykube worker list\n"
		    "manykube worker list -p dev -o wide\n",
	.run = run,
};
