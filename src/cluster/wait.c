/* Waiting for a cluster to be usable. */

#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "cluster/cluster.h"
#include "driver/agent-state.h"
#include "look/status.h"
#include "node/cluster-node.h"
#include "node/node-files.h"
#include "node/trouble.h"
#include "record/options.h"
#include "record/world.h"

#define POLL_MS 100

/* Set the podCIDR of the profile on a Node object that has none yet. */
static int give_pod_cidr(const struct profile *profile, const struct node *node,
			 const json_t *object, struct error *err)
{
	cleanup_free char *path = xasprintf("/api/v1/nodes/%s", node->name);
	json_auto_t *patch = NULL;

	if (json_object_get(json_object_get(object, "spec"), "podCIDR"))
		return 0;
	patch = json_pack("{s:{s:s, s:[s, s*]}}", "spec", "podCIDR", node->pod_cidr, "podCIDRs",
			  node->pod_cidr, node->pod_cidr6);
	return world->kube(profile, KUBE_MERGE, path, patch, NULL, err);
}

static void add_name(struct strbuf *names, const char *name)
{
	if (names->len > 0)
		strbuf_add(names, ", ");
	strbuf_add(names, name);
}

/* Compare TIME, as the API prints it, with SINCE: both are in UTC, and the comparison is limited to
 * the length of SINCE.  A missing TIME is the earliest. */
static int compare_times(const json_t *time, const char *since)
{
	const char *text = json_string_value(time);

	return text ? strncmp(text, since, strlen(since)) : -1;
}

/*
 * Whether the kubelet of NODE has reported its status since the node was started, if it was.  Times
 * in the status have no fractions of a second.  If one is in the same second as the start, the
 * lease decides, whose time has fractions.  The lease alone is not enough: a kubelet renews it
 * before it knows whether it is Ready.  But for a kubelet that was only paused it is, because that
 * may report its status only minutes later.
 */
static bool has_reported(const struct profile *profile, const struct node *node,
			 const json_t *object, const json_t *leases,
			 const struct cluster_restart *restart)
{
	const json_t *lease = kube_find_object(leases, node->name);
	const json_t *conditions = json_object_get(json_object_get(object, "status"), "conditions");
	cleanup_free char *whole = NULL;
	cleanup_free char *precise = NULL;
	int64_t since_ms;
	bool is_renewed;
	int latest = -1;
	json_t *condition;
	size_t i;

	if (!restart || !restart->nodes[node - profile->nodes])
		return true;
	since_ms = restart->since_ms[node - profile->nodes];
	whole = clock_rfc3339(since_ms / 1000);
	whole[strlen("2026-01-01T00:00:00")] = '\0';
	precise = xasprintf("%s.%03d", whole, (int)(since_ms % 1000));
	is_renewed = compare_times(json_object_get(json_object_get(lease, "spec"), "renewTime"),
				   precise) > 0;
	if (restart->thawed[node - profile->nodes])
		return is_renewed;
	json_array_foreach(conditions, i, condition) {
		int order = compare_times(json_object_get(condition, "lastHeartbeatTime"), whole);

		latest = MAX(latest, order);
	}
	return latest > 0 || (latest == 0 && is_renewed);
}

/* Whether the agent of NODE reports that its kubelet or containerd does not run: in the API, the
 * node stays Ready until its lease has expired. */
static bool lacks_service(const struct profile *profile, const struct node *node)
{
	static const char *const names[] = { "containerd", "kubelet" };
	cleanup_with(agent_state_release) struct agent_state state = AGENT_STATE_INIT;
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_with(cluster_node_release) struct cluster_node at = CLUSTER_NODE_INIT;

	if (cluster_node_open(profile, node, &at, NULL) < 0 ||
	    at.driver->files->read_state(&at.spec, &text, NULL) < 0)
		return false;
	agent_state_parse(text.text, &state);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (agent_state_find(&state, names[i]) && !agent_state_runs(&state, names[i]))
			return true;
	return false;
}

/*
 * Whether a node is not Ready only because it lacks a pod network, which the user has to install.
 */
static bool lacks_network(const struct profile *profile, const json_t *object)
{
	const json_t *conditions = json_object_get(json_object_get(object, "status"), "conditions");
	const json_t *condition;
	size_t i;

	if (strcmp(profile->cni, "none") != 0 || kube_node_is_ready(object))
		return false;
	json_array_foreach(conditions, i, condition) {
		const char *words = json_string_value(json_object_get(condition, "message"));

		if (words && strstr(words, "NetworkPluginNotReady"))
			return true;
	}
	return false;
}

/* List the nodes that are not Ready in MISSING; with ALLOW_BARE, without those that lack only a
 * network.  A negative code if the API does not answer. */
static int look_at_nodes(const struct profile *profile, const struct cluster_restart *restart,
			 bool allow_bare, struct strbuf *missing, struct observer *observer,
			 struct error *err)
{
	json_auto_t *list = NULL;
	json_auto_t *leases = NULL;
	const struct node *node;
	unsigned ready = 0;
	unsigned wanted = 0;
	int r = world->kube(profile, KUBE_GET, "/api/v1/nodes", NULL, &list, err);

	if (r == 0 && restart)
		r = world->kube(profile, KUBE_GET,
				"/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases",
				NULL, &leases, err);
	if (r < 0)
		return r;
	profile_for_each_node(node, profile) {
		const json_t *object;

		if (restart && !restart->part[node - profile->nodes])
			continue;
		wanted++;
		object = kube_find_object(list, node->name);

		if (object) {
			r = give_pod_cidr(profile, node, object, err);
			if (r < 0)
				return r;
		}
		if (object &&
		    (kube_node_is_ready(object) ||
		     (allow_bare && lacks_network(profile, object))) &&
		    has_reported(profile, node, object, leases, restart) &&
		    !lacks_service(profile, node) &&
		    (!node->control_plane || world->api_is_ready(profile, node)))
			ready++;
		else
			add_name(missing, node->name);
	}
	observe_progress(observer, "waiting for nodes", NULL, "nodes ready", ready, wanted);
	return 0;
}

static bool pod_is_ready(const json_t *pod)
{
	const json_t *status = json_object_get(pod, "status");
	const char *phase = json_string_value(json_object_get(status, "phase"));

	return (phase && strcmp(phase, "Succeeded") == 0) || kube_node_is_ready(pod);
}

/* Whether POD is on a node that fails on purpose: nobody may wait for it. */
static bool is_on_failed_node(const struct profile *profile, const json_t *pod)
{
	const char *node = json_string_value(
		json_object_get(json_object_get(pod, "spec"), "nodeName"));

	return node && failure_disables(profile, node);
}

static int look_at_pods(const struct profile *profile, struct strbuf *missing, struct error *err)
{
	json_auto_t *list = NULL;
	json_t *pod;
	size_t i;
	int r = world->kube(profile, KUBE_GET, "/api/v1/namespaces/kube-system/pods", NULL, &list,
			    err);

	if (r < 0)
		return r;
	if (json_array_size(json_object_get(list, "items")) == 0)
		add_name(missing, "all pods");
	json_array_foreach(json_object_get(list, "items"), i, pod) {
		const char *name = json_string_value(
			json_object_get(json_object_get(pod, "metadata"), "name"));

		if (!pod_is_ready(pod) && !is_on_failed_node(profile, pod))
			add_name(missing, name ? name : "?");
	}
	return 0;
}

static int look_at_api(const struct profile *profile, arg_unused struct strbuf *missing,
		       struct error *err)
{
	return world->kube(profile, KUBE_GET, "/readyz", NULL, NULL, err);
}

static int look_at_account(const struct profile *profile, arg_unused struct strbuf *missing,
			   struct error *err)
{
	return world->kube(profile, KUBE_GET, "/api/v1/namespaces/default/serviceaccounts/default",
			   NULL, NULL, err);
}

static int check_condition(const struct profile *profile, enum cluster_wait what,
			   const struct cluster_restart *restart, struct strbuf *missing,
			   struct observer *observer, struct error *err)
{
	switch (what) {
	case WAIT_API:
		return look_at_api(profile, missing, err);
	case WAIT_NODES:
	case WAIT_READY:
		return look_at_nodes(profile, restart, what == WAIT_NODES, missing, observer, err);
	case WAIT_SYSTEM_PODS:
		return look_at_pods(profile, missing, err);
	case WAIT_DEFAULT_SA:
		return look_at_account(profile, missing, err);
	}
	return 0;
}

static const char *step_of(enum cluster_wait what)
{
	switch (what) {
	case WAIT_API:
		return "waiting for the API";
	case WAIT_NODES:
	case WAIT_READY:
		return "waiting for nodes";
	case WAIT_SYSTEM_PODS:
		return "waiting for system pods";
	case WAIT_DEFAULT_SA:
		return "waiting for the default service account";
	}
	return "waiting";
}

static int wait_for(const struct profile *profile, enum cluster_wait what,
		    const struct cluster_restart *restart, int64_t deadline,
		    struct observer *observer, struct error *err)
{
	for (;;) {
		cleanup_with(strbuf_release) struct strbuf missing = STRBUF_INIT;
		cleanup_with(error_clear) struct error why = ERROR_INIT;
		int r = check_condition(profile, what, restart, &missing, observer, &why);

		if (r == 0 && missing.len == 0)
			return 0;
		if (trouble_check(profile, restart ? restart->part : NULL, err) < 0)
			return -EIO;
		if (!clock_poll(deadline, POLL_MS)) {
			(void)error_because(err, &reason_wait_timeout, -ETIMEDOUT,
					    "timed out %s: %s", step_of(what),
					    r < 0 ? why.text : missing.text);
			return error_hint(
				err, -ETIMEDOUT,
				"nothing was undone; 'manykube logs --problems' may say why; then run "
				"'manykube start' again, or give it longer with --wait-timeout");
		}
	}
}

int cluster_wait(const struct profile *profile, unsigned what,
		 const struct cluster_restart *restart, unsigned seconds, struct observer *observer,
		 struct error *err)
{
	static const enum cluster_wait order[] = { WAIT_API, WAIT_NODES, WAIT_READY,
						   WAIT_DEFAULT_SA, WAIT_SYSTEM_PODS };
	int64_t deadline = clock_now_ms() + (int64_t)seconds * 1000;
	cleanup_with(world_restore) arg_unused const int64_t *before_ms = world_until(&deadline);

	for (size_t i = 0; i < ARRAY_SIZE(order); i++) {
		int r;

		if (!(what & order[i]))
			continue;
		/* Skip the step if the API answers already. */
		if (order[i] == WAIT_API && look_at_api(profile, NULL, NULL) == 0)
			continue;
		observe_begin(observer, step_of(order[i]), NULL);
		r = wait_for(profile, order[i], restart, deadline, observer, err);
		observe_end(observer, step_of(order[i]), NULL, r == 0);
		if (r < 0)
			return r;
	}
	return 0;
}

int cluster_find_unready(const struct profile *profile, const struct strlist *about,
			 struct strlist *ret_others, struct strlist *ret_bare, struct error *err)
{
	json_auto_t *list = NULL;
	const struct node *node;
	int r = world->kube(profile, KUBE_GET, "/api/v1/nodes", NULL, &list, err);

	if (r < 0)
		return r;
	profile_for_each_node(node, profile) {
		const json_t *object = kube_find_object(list, node->name);

		/* Nodes that the user has stopped or paused are ignored. */
		if (node->phase != NODE_JOINED || (object && kube_node_is_ready(object)) ||
		    !cluster_node_is_awake(profile, node))
			continue;
		if (object && lacks_network(profile, object))
			strlist_add(ret_bare, node->name);
		else if (about && !strlist_has(about, node->name))
			strlist_add(ret_others, node->name);
	}
	return 0;
}
