/* The output formats of `status`. */

#include "cmd/status-print.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/advice.h"
#include "base/cleanup.h"
#include "cli/node-table.h"
#include "cli/template.h"
#include "cli/text.h"
#include "cluster/upgrade.h"
#include "kubeadm/members.h"

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
	if (status->why && (text_is(status->host, "Running") || status->trouble) &&
	    health_of_node(status) != HEALTH_OK)
		printf("reason: %s\n", status->why);
	if (node->control_plane)
		printf("apiserver: %s\nkubeconfig: %s\n", status->apiserver, status->kubeconfig);
	printf("IP: %s\n\n", node->address);
}

/* Only several control planes get a line of their own. */
static void print_quorum(const struct status_report *report)
{
	cleanup_free char *words = quorum_words(&report->quorum);

	if (quorum_total(&report->quorum) > 1 && report->nodes.count > 1)
		printf("control planes: %s\n", words);
}

/* A working front door gets no line. */
static void print_front_door(const struct status_report *report)
{
	if (report->front_door && health_of_word(report->front_door) != HEALTH_OK)
		printf("front door: %s: nothing answers at https://127.0.0.1:%u\n",
		       report->front_door, report->profile->api_port);
}

char *status_deletion_words(const struct status_report *report)
{
	if (!report->profile->deleting || report->activity->busy_with)
		return NULL;
	return advice_complete("interrupted: 'manykube delete' finishes it");
}

/* A half-upgraded cluster works, and a half-deleted one is merely stopped, so nothing else shows
 * it.
 */
static void print_unfinished(const struct status_report *report)
{
	cleanup_free char *words = upgrade_words(report->profile, report->activity->busy_with);
	cleanup_free char *deletion = status_deletion_words(report);

	if (words)
		printf("upgrade: %s\n", words);
	if (deletion)
		printf("deletion: %s\n", deletion);
}

void status_print_text(const struct status_report *report, const struct cluster_detail *detail)
{
	const struct node_table_look look = { 0 };

	for (size_t i = 0; i < report->nodes.count; i++)
		print_block(&report->nodes.nodes[i]);
	print_quorum(report);
	print_front_door(report);
	print_unfinished(report);
	node_table_print_advice(report->profile, &report->nodes, detail, report->activity, &look,
				stdout);
}

const char *status_kubeconfig_word(const struct status_report *report)
{
	for (size_t i = 0; i < report->nodes.count; i++)
		if (report->nodes.nodes[i].node->control_plane)
			return report->nodes.kubeconfig;
	return "Irrelevant";
}

bool status_is_well(const struct status_report *report)
{
	return report->health == HEALTH_OK || report->health == HEALTH_HAPPY;
}

void status_list_advice(const struct status_report *report, struct strlist *ret)
{
	cleanup_with(cluster_detail_release) struct cluster_detail detail = CLUSTER_DETAIL_INIT;

	cluster_detail_read(&report->nodes, NULL, &detail);
	node_table_list_advice(report->profile, &report->nodes, &detail, report->activity, ret);
}

void status_print_layout_text(const struct status_report *report)
{
	struct node_table_look look = { .columns = text_columns(STDOUT_FILENO, 0) };
	cleanup_free char *words = quorum_words(&report->quorum);
	cleanup_with(strlist_release) struct strlist advice = STRLIST_INIT;
	const char *line;
	size_t well = 0;

	for (size_t i = 0; i < report->nodes.count; i++)
		well += health_of_node(&report->nodes.nodes[i]) == HEALTH_OK;
	node_table_print_headline(report->profile, report->health, &look, stdout);
	printf("status: %d %s\n", (int)report->health, health_name(report->health));
	printf("control planes: %s\n", words);
	printf("nodes: %zu of %zu healthy\n", well, report->nodes.count);
	printf("kubeconfig: %s\n", status_kubeconfig_word(report));
	print_front_door(report);
	print_unfinished(report);
	if (!status_is_well(report) && report->activity->step)
		printf("step: %s\n", report->activity->step);
	if (!status_is_well(report) && report->activity->failure)
		printf("failed: %s\n", report->activity->failure);
	status_list_advice(report, &advice);
	strlist_for_each(line, &advice)
		printf("advice: %s\n", line);
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
	print_unfinished(report);
	printf("\n");
	node_table_print(&report->nodes, detail, &look, stdout);
	node_table_print_problems(report->profile, &report->nodes, detail, report->activity, &look,
				  stdout);
}
