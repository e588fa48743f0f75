/* `status`: how the cluster and each of its nodes are. */

#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "cluster/cluster.h"
#include "cluster/status.h"
#include "cmd/command.h"

static struct {
	const char *output;
	const char *node;
} arg = {
	.output = "text",
};

static const struct opt options[] = {
	OPT_CHOICE('o', "output", &arg.output, "text|json", "how to print it"),
	OPT_STRING('n', "node", &arg.node, "NODE", "only this node", .complete = COMPLETE_NODE),
	OPT_END,
};

static void print_text(const struct node_status *status)
{
	const struct node *node = status->node;

	printf("%s\n", node->name);
	if (node->control_plane)
		printf("type: Control Plane%s\n", node->primary ? " (Primary)" : "");
	else
		printf("type: Worker\n");
	printf("host: %s\nkubelet: %s\n", status->host, status->kubelet);
	if (node->control_plane)
		printf("apiserver: %s\nkubeconfig: %s\n", status->apiserver, status->kubeconfig);
	printf("IP: %s\n\n", node->address);
}

static json_t *as_json(const struct node_status *status)
{
	const struct node *node = status->node;

	return json_pack("{s:s, s:s, s:s, s:s, s:s, s:b, s:s, s:b}", "Name", node->name, "Host",
			 status->host, "Kubelet", status->kubelet, "APIServer", status->apiserver,
			 "Kubeconfig", status->kubeconfig, "Worker", !node->control_plane, "IP",
			 node->address, "Primary", node->primary);
}

/* As minikube does it: one object for one node, a list for several. */
static void print_json(const struct cluster_status *status)
{
	json_auto_t *list = json_array();
	const json_t *shown = list;

	for (size_t i = 0; i < status->count; i++)
		(void)json_array_append_new(list, as_json(&status->nodes[i]));
	if (status->count == 1)
		shown = json_array_get(list, 0);
	(void)json_dumpf(shown, stdout, JSON_COMPACT);
	printf("\n");
}

static int keep_only(const struct profile *profile, const char *name, struct cluster_status *status,
		     struct error *err)
{
	struct node *node;
	int r = profile_need_node(profile, name, &node, err);

	if (r < 0)
		return r;
	status->nodes[0] = status->nodes[node - profile->nodes];
	status->count = 1;
	return 0;
}

/* Whoever looks whether all is well is glad if it becomes so; a cluster that is down stays down. */
static void mend(const struct profile *profile)
{
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	int r = geteuid() == 0 ? cluster_open_front_door(profile, &why) : 0;

	if (r < 0 && r != -ESRCH)
		log_warning("nothing listens at the API's address: %s", why.text);
}

static int run(struct command_context *ctx, struct error *err)
{
	cleanup_with(cluster_status_release) struct cluster_status status = CLUSTER_STATUS_INIT;
	int r;

	mend(ctx->profile);
	r = cluster_status_collect(ctx->profile, &status, err);
	if (r == 0 && arg.node)
		r = keep_only(ctx->profile, arg.node, &status, err);
	if (r < 0)
		return r;
	if (strcmp(arg.output, "json") == 0)
		print_json(&status);
	else
		for (size_t i = 0; i < status.count; i++)
			print_text(&status.nodes[i]);
	return cluster_status_code(&status);
}

const struct command cmd_status = {
	.name = "status",
	.summary = "show how the cluster and its nodes are",
	.description =
		"The exit status says it for scripts: 0 all is well; else the sum of 1 (a node "
		"does not run), 2 (a kubelet or API server does not) and 4 (the kubeconfig "
		"does not point here).",
	.examples = "manykube status\n"
		    "manykube status -o json\n"
		    "manykube status -n node-2\n",
	.flags = COMMAND_NEEDS_CLUSTER,
	.options = options,
	.run = run,
};
