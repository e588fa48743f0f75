/*
 * Deleting one node.
 *
 * The node is marked as leaving first, and removed from the profile last: after an interruption,
 * deleting it again continues.
 */

#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "cluster/cluster.h"
#include "kubeadm/drain.h"
#include "kubeadm/members.h"
#include "network/network.h"
#include "node/cluster-node.h"
#include "node/node-files.h"
#include "record/cni.h"
#include "record/world.h"

#define API_PATIENCE_MS 15000
#define API_POLL_MS     200

/* For an API without etcd's majority, which does not answer until its own timeout. */
#define API_DOUBT_MS 3000

/* Delete the pods of a deleted node.  Kubernetes does that itself and then replaces them, but only
 * after a minute.  So this is an optimization, and may fail. */
static void forget_pods(const struct profile *profile, const char *name)
{
	cleanup_free char *all = xasprintf("/api/v1/pods?fieldSelector=spec.nodeName%%3D%s", name);
	json_auto_t *list = NULL;
	const json_t *pod;
	size_t i;

	(void)world->kube(profile, KUBE_GET, all, NULL, &list, NULL);
	json_array_foreach(json_object_get(list, "items"), i, pod) {
		const json_t *about = json_object_get(pod, "metadata");
		cleanup_free char *path = xasprintf(
			"/api/v1/namespaces/%s/pods/%s?gracePeriodSeconds=0",
			json_string_value(json_object_get(about, "namespace")) ?: "",
			json_string_value(json_object_get(about, "name")) ?: "");

		(void)world->kube(profile, KUBE_DELETE, path, NULL, NULL, NULL);
	}
}

int cluster_forget_node(const struct profile *profile, const char *name, struct error *err)
{
	cleanup_free char *path = xasprintf("/api/v1/nodes/%s", name);
	int r = world->kube(profile, KUBE_DELETE, path, NULL, NULL, err);

	if (r == -ENOENT && err)
		error_clear(err);
	if (r < 0 && r != -ENOENT)
		return r;
	forget_pods(profile, name);
	return 0;
}

static bool api_is_ready(const struct profile *profile, arg_unused const char *name)
{
	return world->kube(profile, KUBE_GET, "/readyz", NULL, NULL, NULL) == 0;
}

static bool api_forgets(const struct profile *profile, const char *name)
{
	return cluster_forget_node(profile, name, NULL) == 0;
}

/* Repeat ATTEMPT while a majority of etcd's members runs: an API that does not answer then will do
 * so soon, because its server has just died, or etcd is electing a leader. */
static bool retry_with_majority(bool (*attempt)(const struct profile *, const char *),
				const struct profile *profile, const char *name)
{
	struct members_tally tally = members_tally(profile, NULL);
	bool is_promising = tally.running > 0 && tally.running >= members_majority(tally.count);
	int64_t deadline = clock_now_ms() + (is_promising ? API_PATIENCE_MS : API_DOUBT_MS);
	cleanup_with(world_restore) arg_unused const int64_t *before_ms = world_until(&deadline);

	while (!attempt(profile, name))
		if (!is_promising || !clock_poll(deadline, API_POLL_MS))
			return false;
	return true;
}

/* Remove the routes to its pods, and its name, from the other nodes. */
static int update_other_nodes(const struct profile *profile, const struct node *gone,
			      struct error *err)
{
	const struct node *node;
	int r = 0;

	if (cni_is_ours(profile->cni))
		r = world->network_forget(gone, err);
	profile_for_each_node(node, profile) {
		cleanup_with(cluster_node_release) struct cluster_node at = CLUSTER_NODE_INIT;

		if (r < 0 || node == gone)
			continue;
		r = cluster_node_open(profile, node, &at, err);
		if (r == 0 && at.driver->query(&at.spec) == NODE_RUNNING)
			r = cluster_node_route(&at, gone, true, err);
	}
	return r;
}

static int rewrite_hosts(const struct profile *profile, struct error *err)
{
	const struct node *node;
	int r = 0;

	profile_for_each_node(node, profile) {
		if (r == 0 && cluster_node_state(profile, node) != NODE_ABSENT)
			r = node_files_write_hosts(profile, node, err);
	}
	return r;
}

static int destroy(struct profile *profile, const struct node *node, struct error *err)
{
	cleanup_with(cluster_node_release) struct cluster_node at = CLUSTER_NODE_INIT;
	int r = cluster_node_open(profile, node, &at, err);

	return r < 0 ? r : at.driver->destroy(&at.spec, err);
}

static int remove_from_cluster(struct profile *profile, struct node *node, bool *api_is_up,
			       struct error *err)
{
	int r = destroy(profile, node, err);

	if (r < 0)
		return r;
	world->after("destroy node");
	r = update_other_nodes(profile, node, err);
	/* Not earlier: a kubelet that still ran would register the node again.  A node that is only
	 * planned may have joined unnoticed, so its object is deleted, too. */
	if (r < 0)
		return r;
	/* An API server that has just lost etcd reports that it is ready, but answers no other
	 * requests. */
	*api_is_up = *api_is_up && retry_with_majority(api_forgets, profile, node->name);
	if (!*api_is_up && !strlist_has(&profile->orphans, node->name))
		strlist_add(&profile->orphans, node->name);
	strlist_remove(&profile->drained, node->name);
	r = fail_forget_node(profile, node->name, err);
	if (r < 0)
		return r;
	profile_remove_node(profile, node);
	r = profile_save(profile, err);
	if (r == 0)
		world->after("forget node");
	if (r == 0)
		r = rewrite_hosts(profile, err);
	if (r == 0 && *api_is_up)
		r = world->front_door_up(profile, err);
	return r;
}

/* A member of etcd that is deleted while nothing runs is removed by the next start, for which the
 * others must be a majority. */
static int check_may_go(const struct profile *profile, const struct node *node, bool force,
			struct error *err)
{
	struct members_tally tally = members_tally(profile, NULL);
	unsigned left;

	if (cluster_is_last_control_plane(profile, node) && profile_control_planes(profile) > 1) {
		(void)error_because(err, &reason_usage, -EINVAL,
				    "'%s' is the only control plane of cluster '%s' that is not "
				    "stopped",
				    node->name, profile->name);
		return error_hint(err, -EINVAL,
				  "start another one first: 'manykube node start NAME'");
	}
	if (cluster_is_last_control_plane(profile, node)) {
		(void)error_because(err, &reason_usage, -EINVAL,
				    "'%s' is the only control plane of cluster '%s'", node->name,
				    profile->name);
		return error_hint(err, -EINVAL,
				  "add another one first: 'manykube node add --control-plane'");
	}
	if (!node->control_plane || node->phase != NODE_JOINED || force)
		return 0;
	left = tally.count - (unsigned)profile->lost_members.count - 1;
	if (tally.running > 0 || left >= members_majority(tally.count))
		return tally.running > 0 ? cluster_may_leave(profile, node, err) : 0;
	(void)error_because(err, &reason_control_plane, -EAGAIN,
			    "etcd has %u members, and without that of '%s' it could never have a "
			    "majority again",
			    tally.count, node->name);
	return error_hint(err, -EAGAIN,
			  "run 'manykube start' first: a running cluster can remove it");
}

/* A member that could not be removed from etcd still counts for its majority, even without its
 * node. */
static void record_lost_member(struct profile *profile, const struct node *node)
{
	struct members_tally tally;

	if (node->phase != NODE_JOINED || strlist_has(&profile->lost_members, node->name))
		return;
	strlist_add(&profile->lost_members, node->name);
	tally = members_tally(profile, NULL);
	/* NODE is counted twice here. */
	if (tally.running > 0 && tally.running < members_majority(tally.count - 1))
		log_warning("etcd has lost its majority, and only 'manykube node recover' brings "
			    "the API back");
}

/* A control plane leaves in order if the others are a majority; otherwise it only hands on the role
 * of the primary. */
static int leave_control_plane(struct profile *profile, struct node *node, bool force,
			       struct observer *observer, struct error *err)
{
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	int r;

	if (!node->control_plane)
		return 0;
	if (cluster_may_leave(profile, node, NULL) < 0) {
		record_lost_member(profile, node);
		return cluster_pass_on_primary(profile, node, err);
	}
	r = cluster_leave(profile, node, observer, &why);
	if (r < 0 && force) {
		log_warning("cannot remove the member of '%s' from etcd: %s", node->name, why.text);
		return 0;
	}
	return r < 0 ? error_move(err, r, &why) : 0;
}

int cluster_remove_node(struct profile *profile, const char *name, bool force,
			unsigned drain_seconds, struct observer *observer, bool *ret_api_knows,
			struct error *err)
{
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	cleanup_with(strlist_release) struct strlist only = STRLIST_INIT;
	bool api_is_up;
	struct node *node;
	bool was_member;
	int r = profile_need_node(profile, name, &node, err);

	/* A paused API would not answer. */
	if (r == 0 && !force)
		r = cluster_need_awake(profile, err);
	if (r == 0)
		r = check_may_go(profile, node, force, err);
	if (r < 0)
		return r;
	was_member = node->phase != NODE_PLANNED;
	api_is_up = retry_with_majority(api_is_ready, profile, name);
	/*
	 * A node that does not run, or is paused, would never report that its pods have terminated.
	 */
	if (drain_seconds > 0 && api_is_up && node->phase == NODE_JOINED &&
	    cluster_node_is_awake(profile, node)) {
		strlist_add(&only, name);
		r = drain_nodes(profile, &only, DRAIN_ALL, drain_seconds, observer, &why);
		/* The node is deleted anyway, with its remaining pods. */
		if (r == -EBUSY)
			log_warning("pods that did not end in time are killed: %s", why.text);
		else if (r < 0)
			log_warning("not all pods could be moved to other nodes: %s", why.text);
	}
	r = leave_control_plane(profile, node, force, observer, err);
	if (r < 0)
		return r;
	node->phase = NODE_LEAVING;
	r = profile_save(profile, err);
	if (r < 0)
		return r;
	world->after("mark node");
	observe_begin(observer, "removing node", name);
	r = remove_from_cluster(profile, node, &api_is_up, err);
	*ret_api_knows = was_member && !api_is_up;
	observe_end(observer, "removing node", name, r == 0);
	return r;
}

int cluster_close_ports(struct profile *profile, const char *name, struct error *err)
{
	struct strlist left = STRLIST_INIT;
	bool any = false;
	const char *word;
	int r;

	strlist_for_each(word, &profile->ports) {
		const char *at = strchr(word, '@');

		if (!at || strcmp(at + 1, name) != 0) {
			strlist_add(&left, word);
			continue;
		}
		any = true;
		log_warning("--ports=%s was forwarded to node '%s' and is closed", word, name);
	}
	strlist_release(&profile->ports);
	profile->ports = left;
	if (!any)
		return 0;
	r = profile_save(profile, err);
	if (r == 0 && members_tally(profile, NULL).running > 0)
		r = world->front_door_up(profile, err);
	return r;
}
