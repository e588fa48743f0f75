/* Changing an existing node. */

#include "cluster/change-node.h"

#include <string.h>

#include "balancer/balancer.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "describe/choices.h"
#include "kubeadm/members.h"
#include "network/network.h"
#include "node/cluster-node.h"
#include "node/docker-service.h"
#include "plan/check.h"
#include "plan/plan.h"
#include "record/labels.h"
#include "record/limits.h"
#include "record/setting-check.h"
#include "record/spec.h"
#include "record/world.h"

#define POLL_MS  200
#define COUNT_MS 20000

static int update_node_object(const struct profile *profile, const struct node *node,
			      const struct node_settings *changes, struct error *err)
{
	cleanup_with(strlist_release) struct strlist taints = STRLIST_INIT;
	cleanup_free char *path = xasprintf("/api/v1/nodes/%s", node->name);
	json_auto_t *object = NULL;
	json_auto_t *patch = json_object();
	int r;

	if (changes->labels.count == 0 && changes->taints.count == 0)
		return 0;
	r = world->kube(profile, KUBE_GET, path, NULL, &object, err);
	if (r < 0) {
		(void)error_prefix(err, r, "labels and taints cannot be changed without the API");
		return error_reason(err, r, &reason_api_not_running);
	}
	(void)json_object_set_new(patch, "metadata",
				  json_pack("{s:o}", "labels", labels_patch(&changes->labels)));
	labels_read_taints(object, &taints);
	r = labels_change_taints(&taints, &changes->taints, err);
	if (r < 0)
		return r;
	if (changes->taints.count > 0)
		(void)json_object_set_new(
			patch, "spec", json_pack("{s:o}", "taints", labels_taint_objects(&taints)));
	return world->kube(profile, KUBE_MERGE, path, patch, NULL, err);
}

/*
 * The last status that the kubelet of NODE reported, for the caller to free; NULL if there is none.
 */
static char *last_status(const struct profile *profile, const struct node *node)
{
	cleanup_free char *path = xasprintf("/api/v1/nodes/%s", node->name);
	json_auto_t *object = NULL;
	json_t *status;

	if (world->kube(profile, KUBE_GET, path, NULL, &object, NULL) < 0)
		return NULL;
	status = json_object_get(object, "status");
	/* Compare the whole status: the capacity may be the same with other limits, but the
	 * conditions contain the time of the report. */
	return json_object_get(status, "capacity") ? json_dumps(status, JSON_SORT_KEYS) : NULL;
}

/* Restart the kubelet, so that it determines the capacity again, and wait for its report. */
static int refresh_capacity(const struct profile *profile, const struct node *node,
			    struct error *err)
{
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	cleanup_free char *before = last_status(profile, node);
	int64_t deadline_ms = clock_now_ms() + COUNT_MS;
	cleanup_with(world_restore) arg_unused const int64_t *before_ms = world_until(&deadline_ms);
	int r;

	strlist_add(&names, "kubelet");
	r = cluster_node_restart(profile, node, &names, deadline_ms, err);
	while (r == 0 && before) {
		cleanup_free char *now = last_status(profile, node);

		if (!now || strcmp(now, before) != 0 || !clock_poll(deadline_ms, POLL_MS))
			break;
	}
	return r;
}

/* Apply the new limits to the node; RET_COUNTS: Kubernetes knows them. */
static int apply_limits(const struct profile *profile, const struct node *node, bool *ret_counts,
			struct error *err)
{
	cleanup_with(cluster_node_release) struct cluster_node at = CLUSTER_NODE_INIT;
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	int r = cluster_node_open(profile, node, &at, err);

	*ret_counts = true;
	if (r < 0 || at.driver->query(&at.spec) != NODE_RUNNING)
		return r;
	r = at.driver->limit(&at.spec, err);
	if (r < 0)
		return r;
	world->after("limit node");
	if (node->phase == NODE_JOINED && refresh_capacity(profile, node, &why) < 0) {
		log_debug("the kubelet of node '%s' was not restarted: %s", node->name, why.text);
		*ret_counts = false;
	}
	return 0;
}

/* A disk can only grow, and cannot be added later; a node that was not created yet may get any
 * size. */
static int check_disk(const struct profile *profile, const struct node *node, uint64_t bytes,
		      struct error *err)
{
	int r = setting_check_disk(bytes, err);

	if (r < 0 || !bytes || cluster_node_state(profile, node) == NODE_ABSENT)
		return r;
	if (!node->disk_bytes) {
		(void)error_because(
			err, &reason_usage, -EINVAL,
			"node '%s' was created without a disk of its own, and cannot get "
			"one later",
			node->name);
		return error_hint(err, -EINVAL,
				  "'manykube node add --disk-size=SIZE' adds a node that has one");
	}
	if (bytes < node->disk_bytes) {
		(void)error_because(err, &reason_usage, -EINVAL,
				    "the disk of node '%s' has %llu MiB, and can only grow",
				    node->name, (unsigned long long)(node->disk_bytes >> 20));
		return error_hint(err, -EINVAL,
				  "use a larger size, or add a node with a smaller disk");
	}
	return 0;
}

/* Copy the limits of CHANGES to NODE; returns whether they differ. */
static bool take_limits(const struct node_settings *changes, struct node *node)
{
	unsigned cpus = plan_cpus(changes->cpus, node->cpus);
	uint64_t memory_bytes = plan_memory(changes->memory_bytes, node->memory_bytes);
	bool differ = cpus != node->cpus || memory_bytes != node->memory_bytes;

	check_overcommit(changes->cpus ? cpus : 0, changes->memory_bytes ? memory_bytes : 0);
	node->cpus = cpus;
	node->memory_bytes = memory_bytes;
	return differ;
}

/* A paused API would not answer.  A change of the disk does not need it. */
static int check_awake(const struct profile *profile, const struct node *node,
		       const struct node_settings *changes, struct error *err)
{
	bool is_told = changes->labels.count > 0 || changes->taints.count > 0 || changes->cpus ||
		       changes->memory_bytes;

	return is_told && node->phase == NODE_JOINED ? cluster_need_awake(profile, err) : 0;
}

/* Let RET have the settings of NODE's services after CHANGES; RET_DIFFER: they are others. */
static int plan_services(const struct profile *profile, const struct node *node,
			 const struct node_settings *changes, struct node_settings *ret,
			 bool *ret_differ, struct error *err)
{
	const struct setting *setting;
	int r = 0;

	*ret_differ = false;
	setting_for_each(setting) {
		void *list = setting_in_node(setting, ret);
		const void *had = setting_in_node(setting, &node->settings);

		if (r < 0 || setting->effect != SETTING_OF_DOCKER || !setting_is_of_node(setting))
			continue;
		setting_copy(setting, had, list);
		r = setting_change_words(setting, list, setting_in_node(setting, changes), err);
		*ret_differ |= !setting_equals(setting, list, had);
	}
	if (r < 0 || !*ret_differ || cluster_node_state(profile, node) != NODE_RUNNING)
		return r;
	return cluster_node_need_awake(profile, node, err);
}

static char *join_host_ports(const struct profile *profile)
{
	cleanup_with(strlist_release) struct strlist ports = STRLIST_INIT;

	network_host_ports(profile, &ports);
	return strlist_join(&ports, ",");
}

int cluster_change_services(struct profile *profile, struct node *node,
			    const struct node_settings *wanted, struct error *err)
{
	cleanup_free char *before = join_host_ports(profile);
	cleanup_free char *after = NULL;
	int r = docker_service_change(profile, node, wanted, err);

	after = join_host_ports(profile);
	/* Nodes may reach registries of this host. */
	if (r < 0 || strcmp(before, after) == 0 || balancer_pid(profile->dir) <= 0)
		return r;
	r = world->network_up(profile, err);
	return r < 0 ? r : world->front_door_up(profile, err);
}

int cluster_change_node(struct profile *profile, const char *name,
			const struct node_settings *changes, bool *ret_needs_restart,
			struct error *err)
{
	cleanup_with(settings_release_node) struct node_settings services = { .name = NULL };
	bool services_differ = false;
	bool counts = true;
	bool grows;
	struct node *node;
	int r = profile_need_node(profile, name, &node, err);

	if (r == 0)
		r = check_awake(profile, node, changes, err);
	if (r == 0)
		r = plan_services(profile, node, changes, &services, &services_differ, err);
	if (r == 0)
		r = check_disk(profile, node, changes->disk_bytes, err);
	if (r == 0)
		r = check_own_memory(node, plan_memory(changes->memory_bytes, 0), false, err);
	if (r == 0)
		r = labels_change(&node->labels, &changes->labels, err);
	if (r == 0)
		r = labels_change_taints(&node->taints, &changes->taints, err);
	/* A node that has not joined gets them when it does. */
	if (r == 0 && node->phase == NODE_JOINED)
		r = update_node_object(profile, node, changes, err);
	if (r < 0)
		return r;
	grows = changes->disk_bytes && changes->disk_bytes != node->disk_bytes &&
		cluster_node_state(profile, node) == NODE_RUNNING;
	if (changes->disk_bytes)
		node->disk_bytes = changes->disk_bytes;
	if (node->control_plane)
		node->worker = !strlist_has(&node->taints, CONTROL_PLANE_TAINT);
	if (take_limits(changes, node))
		r = apply_limits(profile, node, &counts, err);
	*ret_needs_restart = grows || !counts;
	node->outdated = node->outdated || *ret_needs_restart;
	if (r == 0)
		r = profile_save(profile, err);
	if (r == 0 && services_differ)
		r = cluster_change_services(profile, node, &services, err);
	if (r == 0)
		world->after("change node");
	return r;
}
