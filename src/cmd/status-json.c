/* The output of `status` for programs. */

#include <jansson.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "cluster/upgrade.h"
#include "cmd/status-print.h"
#include "data/words.h"
#include "fail/failure.h"
#include "kubeadm/members.h"

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

/* Add the state of an unfinished upgrade, if any, to OBJECT. */
static void add_upgrade(json_t *object, const struct status_report *report)
{
	cleanup_free char *words = upgrade_words(report->profile, report->activity->busy_with);

	if (words)
		json_object_set_new(
			object, "Upgrade",
			json_pack("{s:s, s:s, s:s}", "From", report->profile->upgrading_from, "To",
				  report->profile->kubernetes_version, "Detail", words));
}

/* Add the interrupted deletion of the cluster, if any, to OBJECT. */
static void add_deletion(json_t *object, const struct status_report *report)
{
	cleanup_free char *words = status_deletion_words(report);

	if (words)
		json_object_set_new(object, "Deletion", json_pack("{s:s}", "Detail", words));
}

/* Add what to do about the cluster, if anything, to OBJECT. */
static void add_advice(json_t *object, const struct status_report *report)
{
	cleanup_with(strlist_release) struct strlist advice = STRLIST_INIT;

	status_list_advice(report, &advice);
	if (advice.count > 0)
		json_object_set_new(object, "Advice", words_to_json(&advice));
}

static json_t *as_json(const struct status_report *report, const struct node_status *status)
{
	const struct node *node = status->node;
	json_t *object;

	object = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:o, s:b, s:s, s:b}", "Name", node->name,
			   "Host", status->host, "Kubelet", status->kubelet, "APIServer",
			   status->apiserver, "Kubeconfig", status->kubeconfig, "Node",
			   status->readiness, "Pressure", pressure_json(status), "Worker",
			   !node->control_plane, "IP", node->address, "Primary", node->primary);
	if (status->why && health_of_node(status) != HEALTH_OK)
		json_object_set_new(object, "Reason", json_string(status->why));
	failures_add_json(report->profile, node->name, object);
	add_upgrade(object, report);
	add_deletion(object, report);
	add_advice(object, report);
	return object;
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
		(void)json_array_append_new(list, as_json(report, &report->nodes.nodes[i]));
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

static json_t *node_layout(const struct profile *profile, const struct node_status *status)
{
	json_t *components = json_object();
	json_t *node = part(status->node->name, health_of_node(status));

	if (status->node->control_plane)
		json_object_set_new(components, "apiserver",
				    part("apiserver", health_of_word(status->apiserver)));
	json_object_set_new(components, "kubelet",
			    part("kubelet", health_of_word(status->kubelet)));
	if (status->broken)
		json_object_set_new(components, status->broken,
				    part(status->broken, health_of_word(status->broken_word)));
	json_object_set_new(node, "Components", components);
	set_text(node, "StatusDetail", status->why);
	failures_add_json(profile, status->node->name, node);
	return node;
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

	/* Past failures do not matter in a healthy cluster. */
	if (!status_is_well(report)) {
		set_text(cluster, "StatusDetail", report->activity->failure);
		set_text(cluster, "Step", report->activity->step);
		set_text(cluster, "StepDetail", report->activity->step_detail);
	}
	set_text(cluster, "BinaryVersion", "v" MANYKUBE_VERSION);
	add_upgrade(cluster, report);
	add_deletion(cluster, report);
	add_advice(cluster, report);
	json_object_set_new(components, "kubeconfig",
			    part("kubeconfig", health_of_word(status_kubeconfig_word(report))));
	if (report->front_door)
		json_object_set_new(components, "frontDoor",
				    part("frontDoor", health_of_word(report->front_door)));
	json_object_set_new(cluster, "Components", components);
	json_object_set_new(cluster, "ControlPlanes", quorum_json(&report->quorum));
	for (size_t i = 0; i < report->nodes.count; i++)
		json_array_append_new(nodes, node_layout(report->profile, &report->nodes.nodes[i]));
	json_object_set_new(cluster, "Nodes", nodes);
	print_line(cluster);
}
