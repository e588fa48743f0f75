/* The forms that `status` has. */

#include "cmd/status-print.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cli/node-table.h"
#include "cli/template.h"
#include "cli/text.h"
#include "cluster/members.h"

static void print_block(const struct node_status *status)
{
	const struct node *node = status->node;

	printf("%s\n", node->name);
	if (node->control_plane)
		printf("type: Control Plane%s\n", node->primary ? " (Primary)" : "");
	else
		printf("type: Worker\n");
	printf("host: %s\nkubelet: %s\nnode: %s%s%s\n", status->host, status->kubelet,
	       status->readiness, status->pressure ? "," : "",
	       status->pressure ? status->pressure : "");
	if (node->control_plane)
		printf("apiserver: %s\nkubeconfig: %s\n", status->apiserver, status->kubeconfig);
	printf("IP: %s\n\n", node->address);
}

/* One control plane is the cluster; several are worth a word of their own. */
static void print_quorum(const struct status_report *report)
{
	cleanup_free char *words = quorum_words(&report->quorum);

	if (quorum_total(&report->quorum) > 1 && report->nodes.count > 1)
		printf("control planes: %s\n", words);
}

/* One that works is not worth a line. */
static void print_front_door(const struct status_report *report)
{
	if (report->front_door && health_of_word(report->front_door) != HEALTH_OK)
		printf("front door: %s: nothing answers at https://127.0.0.1:%u\n",
		       report->front_door, report->profile->api_port);
}

void status_print_text(const struct status_report *report)
{
	for (size_t i = 0; i < report->nodes.count; i++)
		print_block(&report->nodes.nodes[i]);
	print_quorum(report);
	print_front_door(report);
}

static json_t *pressure_json(const struct node_status *status)
{
	cleanup_with(strlist_release) struct strlist types = STRLIST_INIT;
	json_t *list = json_array();
	const char *type;

	if (status->pressure)
		strlist_split(&types, status->pressure, ',');
	strlist_for_each(type, &types)
		(void)json_array_append_new(list, json_string(type));
	return list;
}

static json_t *as_json(const struct node_status *status)
{
	const struct node *node = status->node;

	return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:o, s:b, s:s, s:b}", "Name", node->name,
			 "Host", status->host, "Kubelet", status->kubelet, "APIServer",
			 status->apiserver, "Kubeconfig", status->kubeconfig, "Node",
			 status->readiness, "Pressure", pressure_json(status), "Worker",
			 !node->control_plane, "IP", node->address, "Primary", node->primary);
}

static void print_line(const json_t *value)
{
	(void)json_dumpf(value, stdout, JSON_COMPACT);
	printf("\n");
}

void status_print_json(const struct status_report *report)
{
	json_auto_t *list = json_array();

	for (size_t i = 0; i < report->nodes.count; i++)
		(void)json_array_append_new(list, as_json(&report->nodes.nodes[i]));
	print_line(report->nodes.count == 1 ? json_array_get(list, 0) : list);
}

static json_t *part(const char *name, enum health health)
{
	return json_pack("{s:s, s:i, s:s}", "Name", name, "StatusCode", (int)health, "StatusName",
			 health_name(health));
}

static void set_text(json_t *object, const char *key, const char *text)
{
	if (text)
		json_object_set_new(object, key, json_string(text));
}

static json_t *node_layout(const struct node_status *status)
{
	json_t *components = json_object();
	json_t *node = part(status->node->name, health_of_node(status));

	if (status->node->control_plane)
		json_object_set_new(components, "apiserver",
				    part("apiserver", health_of_word(status->apiserver)));
	json_object_set_new(components, "kubelet",
			    part("kubelet", health_of_word(status->kubelet)));
	json_object_set_new(node, "Components", components);
	set_text(node, "StatusDetail", status->why);
	return node;
}

static const char *kubeconfig_word(const struct status_report *report)
{
	for (size_t i = 0; i < report->nodes.count; i++)
		if (report->nodes.nodes[i].node->control_plane)
			return report->nodes.kubeconfig;
	return "Irrelevant";
}

static bool is_well(const struct status_report *report)
{
	return report->health == HEALTH_OK || report->health == HEALTH_HAPPY;
}

static json_t *quorum_json(const struct quorum *quorum)
{
	cleanup_free char *words = quorum_words(quorum);

	return json_pack("{s:i, s:i, s:i, s:i, s:i, s:s}", "Total", (int)quorum_total(quorum),
			 "Members", (int)quorum->members, "Healthy", (int)quorum->healthy, "Needed",
			 (int)members_majority(quorum->members), "MayFail",
			 (int)quorum_may_fail(quorum), "Detail", words);
}

void status_print_layout_json(const struct status_report *report)
{
	json_auto_t *cluster = part(report->profile->name, report->health);
	json_t *components = json_object();
	json_t *nodes = json_array();

	/* What went wrong once is of no interest in a cluster that is well. */
	if (!is_well(report)) {
		set_text(cluster, "StatusDetail", report->activity->failure);
		set_text(cluster, "Step", report->activity->step);
		set_text(cluster, "StepDetail", report->activity->step_detail);
	}
	set_text(cluster, "BinaryVersion", "v" MANYKUBE_VERSION);
	json_object_set_new(components, "kubeconfig",
			    part("kubeconfig", health_of_word(kubeconfig_word(report))));
	if (report->front_door)
		json_object_set_new(components, "frontDoor",
				    part("frontDoor", health_of_word(report->front_door)));
	json_object_set_new(cluster, "Components", components);
	json_object_set_new(cluster, "ControlPlanes", quorum_json(&report->quorum));
	for (size_t i = 0; i < report->nodes.count; i++)
		json_array_append_new(nodes, node_layout(&report->nodes.nodes[i]));
	json_object_set_new(cluster, "Nodes", nodes);
	print_line(cluster);
}

void status_print_layout_text(const struct status_report *report)
{
	struct node_table_look look = { .columns = text_columns(STDOUT_FILENO, 0) };
	cleanup_free char *words = quorum_words(&report->quorum);
	size_t well = 0;

	for (size_t i = 0; i < report->nodes.count; i++)
		well += health_of_node(&report->nodes.nodes[i]) == HEALTH_OK;
	node_table_print_headline(report->profile, report->health, &look, stdout);
	printf("status: %d %s\n", (int)report->health, health_name(report->health));
	printf("control planes: %s\n", words);
	printf("nodes: %zu of %zu healthy\n", well, report->nodes.count);
	printf("kubeconfig: %s\n", kubeconfig_word(report));
	print_front_door(report);
	if (!is_well(report) && report->activity->step)
		printf("step: %s\n", report->activity->step);
	if (!is_well(report) && report->activity->failure)
		printf("failed: %s\n", report->activity->failure);
}

int status_print_template(const struct status_report *report, const char *template,
			  struct error *err)
{
	for (size_t i = 0; i < report->nodes.count; i++) {
		cleanup_with(strbuf_release) struct strbuf line = STRBUF_INIT;
		const struct node_status *status = &report->nodes.nodes[i];
		const struct node *node = status->node;
		const struct template_field fields[] = {
			{ "Name", node->name },
			{ "Host", status->host },
			{ "Kubelet", status->kubelet },
			{ "APIServer", status->apiserver },
			{ "Kubeconfig", status->kubeconfig },
			{ "Node", status->readiness },
			{ "Pressure", status->pressure ? status->pressure : "" },
			{ "Worker", node->control_plane ? "false" : "true" },
			{ "IP", node->address },
			{ "Primary", node->primary ? "true" : "false" },
			{ "Role", node_table_role(node) },
			{ "Version", node->kubernetes_version ? node->kubernetes_version : "" },
			{ NULL, NULL },
		};
		int r = template_expand(template, fields, &line, err);

		if (r < 0)
			return error_prefix(err, r, "--format");
		printf("%s%s", line.text,
		       line.len > 0 && line.text[line.len - 1] == '\n' ? "" : "\n");
	}
	return 0;
}

void status_print_table(const struct status_report *report, const struct cluster_detail *detail)
{
	struct node_table_look look = { .columns = text_columns(STDOUT_FILENO, 0),
					.colour = text_has_colour(STDOUT_FILENO) };

	node_table_print_headline(report->profile, report->health, &look, stdout);
	print_quorum(report);
	print_front_door(report);
	printf("\n");
	node_table_print(&report->nodes, detail, &look, stdout);
	node_table_print_problems(report->profile, &report->nodes, detail, report->activity, &look,
				  stdout);
}
