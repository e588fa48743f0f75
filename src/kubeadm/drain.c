/*
 * Draining a node.
 *
 * The node is cordoned, and its pods are evicted through the API, like in `kubectl drain`. kubectl
 * itself cannot be used: it either refuses a node with a pod that has no controller, or deletes
 * that pod.  Evictions respect PodDisruptionBudgets: a refused eviction is retried until the
 * timeout.
 */

#include "kubeadm/drain.h"

#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "kubeadm/members.h"
#include "node/cluster-node.h"
#include "record/world.h"

#define POLL_MS    500
#define NAMED_MOST 20

static const char *metadata_of(const json_t *pod, const char *key)
{
	const char *value = json_string_value(
		json_object_get(json_object_get(pod, "metadata"), key));

	return value ? value : "";
}

/* The kind of the pod's controller ("ReplicaSet"); NULL if it has none. */
static const char *controller_of(const json_t *pod)
{
	const json_t *owner;
	size_t i;

	json_array_foreach(json_object_get(json_object_get(pod, "metadata"), "ownerReferences"), i,
			   owner) {
		if (json_is_true(json_object_get(owner, "controller")))
			return json_string_value(json_object_get(owner, "kind"));
	}
	return NULL;
}

/* Whether the pod is bound to its node: a static pod, or a pod of a DaemonSet, which would be
 * recreated there. */
static bool belongs_to_node(const json_t *pod)
{
	const json_t *annotations = json_object_get(json_object_get(pod, "metadata"),
						    "annotations");
	const char *controller = controller_of(pod);

	return json_object_get(annotations, "kubernetes.io/config.mirror") ||
	       (controller && strcmp(controller, "DaemonSet") == 0);
}

static bool is_bare(const json_t *pod)
{
	return !controller_of(pod) && !belongs_to_node(pod);
}

static bool has_ended(const json_t *pod)
{
	const char *phase = json_string_value(
		json_object_get(json_object_get(pod, "status"), "phase"));

	return phase && (strcmp(phase, "Succeeded") == 0 || strcmp(phase, "Failed") == 0);
}

static bool has_to_go(const json_t *pod, enum drain_scope scope)
{
	return !belongs_to_node(pod) && (scope == DRAIN_ALL || !is_bare(pod));
}

static int list_pods(const struct profile *profile, const char *name, json_t **ret,
		     struct error *err)
{
	cleanup_free char *path = xasprintf("/api/v1/pods?fieldSelector=spec.nodeName%%3D%s", name);

	return world->kube(profile, KUBE_GET, path, NULL, ret, err);
}

static void add_bare(const json_t *pods, struct strlist *ret)
{
	const json_t *pod;
	size_t i;

	json_array_foreach(json_object_get(pods, "items"), i, pod) {
		if (is_bare(pod) && !has_ended(pod) && !*metadata_of(pod, "deletionTimestamp"))
			strlist_addf(ret, "%s/%s", metadata_of(pod, "namespace"),
				     metadata_of(pod, "name"));
	}
}

/* Without a majority of etcd, the API would answer only after half a minute, and with no list. */
static bool may_list(const struct profile *profile)
{
	struct members_tally tally = members_tally(profile, NULL);

	return tally.running >= members_majority(tally.count);
}

int drain_list_bare(const struct profile *profile, const char *name, struct strlist *ret)
{
	json_auto_t *pods = NULL;
	int r = may_list(profile) ? list_pods(profile, name, &pods, NULL) : -EAGAIN;

	if (r == 0)
		add_bare(pods, ret);
	return r;
}

/* Whether TERM of a node selector matches only the node with the host name NAME. */
static bool selects_only(const json_t *term, const char *name)
{
	const json_t *rule;
	size_t i;

	json_array_foreach(json_object_get(term, "matchExpressions"), i, rule) {
		const json_t *values = json_object_get(rule, "values");
		const char *key = json_string_value(json_object_get(rule, "key"));
		const char *relation = json_string_value(json_object_get(rule, "operator"));
		const char *value = json_string_value(json_array_get(values, 0));

		if (key && relation && value && strcmp(key, "kubernetes.io/hostname") == 0 &&
		    strcmp(relation, "In") == 0 && json_array_size(values) == 1 &&
		    strcmp(value, name) == 0)
			return true;
	}
	return false;
}

/* The terms of a node selector are alternatives. */
static bool is_volume_of(const json_t *volume, const char *name)
{
	const json_t *affinity = json_object_get(json_object_get(volume, "spec"), "nodeAffinity");
	const json_t *terms = json_object_get(json_object_get(affinity, "required"),
					      "nodeSelectorTerms");
	const json_t *term;
	size_t i;

	json_array_foreach(terms, i, term) {
		if (!selects_only(term, name))
			return false;
	}
	return json_array_size(terms) > 0;
}

int drain_list_volumes(const struct profile *profile, const char *name, struct strlist *ret)
{
	json_auto_t *volumes = NULL;
	const json_t *volume;
	size_t i;
	int r = -EAGAIN;

	if (may_list(profile))
		r = world->kube(profile, KUBE_GET, "/api/v1/persistentvolumes", NULL, &volumes,
				NULL);
	if (r < 0)
		return r;
	json_array_foreach(json_object_get(volumes, "items"), i, volume) {
		const json_t *claim = json_object_get(json_object_get(volume, "spec"), "claimRef");
		const char *space = json_string_value(json_object_get(claim, "namespace"));
		const char *claimed = json_string_value(json_object_get(claim, "name"));

		if (!is_volume_of(volume, name))
			continue;
		if (space && claimed)
			strlist_addf(ret, "%s/%s", space, claimed);
		else
			strlist_add(ret, metadata_of(volume, "name"));
	}
	return 0;
}

/* PODS by their uid. */
static json_t *index_pods(const json_t *pods)
{
	json_t *index = json_object();
	json_t *pod;
	size_t i;

	json_array_foreach(json_object_get(pods, "items"), i, pod) {
		(void)json_object_set(index, metadata_of(pod, "uid"), pod);
	}
	return index;
}

/* Evict POD; WHY is set if it was not accepted. */
static void evict(const struct profile *profile, const json_t *pod, struct observer *observer,
		  struct error *why)
{
	const char *space = metadata_of(pod, "namespace");
	const char *name = metadata_of(pod, "name");
	cleanup_free char *path = xasprintf("/api/v1/namespaces/%s/pods/%s/eviction", space, name);
	json_auto_t *body = json_pack("{s:s, s:s, s:{s:s, s:s}}", "apiVersion", "policy/v1", "kind",
				      "Eviction", "metadata", "name", name, "namespace", space);
	int r = world->kube(profile, KUBE_CREATE, path, body, NULL, why);

	if (r == 0)
		observe_evicted(observer);
	else if (r == -ENOENT)
		error_clear(why);
	else
		(void)error_prefix(why, r, "cannot evict pod '%s/%s'", space, name);
}

/* Evict the pods of FIRST that are still in NOW, until DEADLINE_MS.  Returns how many were found;
 * WHY says what prevents one of them. */
static unsigned evict_all(const struct profile *profile, const json_t *first, const json_t *now,
			  enum drain_scope scope, int64_t deadline_ms, struct observer *observer,
			  struct error *why)
{
	json_auto_t *index = index_pods(now);
	const json_t *pod;
	unsigned left = 0;
	size_t i;

	/* Only pods of FIRST: new pods tolerate a cordoned node, and would be recreated there
	 * endlessly. */
	json_array_foreach(json_object_get(first, "items"), i, pod) {
		const json_t *same = has_to_go(pod, scope)
					     ? json_object_get(index, metadata_of(pod, "uid"))
					     : NULL;

		if (!same)
			continue;
		if (left > 0 && clock_now_ms() >= deadline_ms)
			break;
		error_clear(why);
		if (*metadata_of(same, "deletionTimestamp"))
			(void)error_set(why, -EBUSY, "pod '%s/%s' has not terminated",
					metadata_of(same, "namespace"), metadata_of(same, "name"));
		else
			evict(profile, same, observer, why);
		left++;
	}
	return left;
}

static int cordon(const struct profile *profile, const struct node *node, struct error *err)
{
	cleanup_free char *path = xasprintf("/api/v1/nodes/%s", node->name);
	json_auto_t *patch = json_pack("{s:{s:b}}", "spec", "unschedulable", true);

	return world->kube(profile, KUBE_MERGE, path, patch, NULL, err);
}

static void tell_of_bare(const json_t *pods, const struct node *node)
{
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	cleanup_free char *text = NULL;

	add_bare(pods, &names);
	if (names.count == 0)
		return;
	text = strlist_join_some(&names, NAMED_MOST);
	log_warning("pods without a controller stay on node '%s', and stop and start with it: %s",
		    node->name, text);
}

static int evict_until(const struct profile *profile, const struct node *node, const json_t *first,
		       enum drain_scope scope, unsigned seconds, struct observer *observer,
		       struct error *err)
{
	int64_t deadline_ms = clock_now_ms() + (int64_t)seconds * 1000;
	cleanup_with(world_restore) arg_unused const int64_t *before_ms = world_until(&deadline_ms);

	for (;;) {
		cleanup_with(error_clear) struct error why = ERROR_INIT;
		json_auto_t *now = NULL;
		int r = list_pods(profile, node->name, &now, &why);

		if (r == 0 &&
		    evict_all(profile, first, now, scope, deadline_ms, observer, &why) == 0)
			return 0;
		if (clock_now_ms() >= deadline_ms)
			return error_because(err, &reason_control_plane, -EBUSY,
					     "draining node '%s' did not finish within %u s: %s",
					     node->name, seconds,
					     why.text ? why.text : "pods have not terminated");
		clock_rest_ms(POLL_MS);
	}
}

static int drain_node(const struct profile *profile, const struct node *node,
		      enum drain_scope scope, unsigned seconds, struct observer *observer,
		      struct error *err)
{
	json_auto_t *first = NULL;
	int r = cordon(profile, node, err);

	if (r == 0)
		r = list_pods(profile, node->name, &first, err);
	if (r < 0)
		return error_prefix(err, r, "cannot drain node '%s'", node->name);
	if (scope == DRAIN_CONTROLLED)
		tell_of_bare(first, node);
	return evict_until(profile, node, first, scope, seconds, observer, err);
}

/* Whether the user has cordoned NODE, so that it has to stay cordoned. */
static bool is_cordoned_by_user(const struct profile *profile, const struct node *node)
{
	cleanup_free char *path = xasprintf("/api/v1/nodes/%s", node->name);
	json_auto_t *object = NULL;

	return !strlist_has(&profile->drained, node->name) &&
	       world->kube(profile, KUBE_GET, path, NULL, &object, NULL) == 0 &&
	       json_is_true(json_object_get(json_object_get(object, "spec"), "unschedulable"));
}

/* Record that NODE is to be uncordoned when it is started, unless it is cordoned now. */
static int record_drain(struct profile *profile, const struct node *node, struct error *err)
{
	int r;

	if (is_cordoned_by_user(profile, node) || strlist_has(&profile->drained, node->name))
		return 0;
	strlist_add(&profile->drained, node->name);
	r = profile_save(profile, err);
	if (r == 0)
		world->after("note drain");
	return r;
}

int drain_nodes(struct profile *profile, const struct strlist *names, enum drain_scope scope,
		unsigned seconds, struct observer *observer, struct error *err)
{
	const char *name;
	int r = cluster_need_awake(profile, err);

	strlist_for_each(name, names) {
		struct node *node = NULL;
		bool is_over;

		if (r == 0)
			r = profile_need_node(profile, name, &node, err);
		/* The kubelet of a paused node would never report that pods have terminated. */
		if (r == 0)
			r = cluster_node_need_awake(profile, node, err);
		if (r == 0)
			r = record_drain(profile, node, err);
		if (r < 0)
			return r;
		observe_begin(observer, "draining node", name);
		r = drain_node(profile, node, scope, seconds, observer, err);
		/* The node is deleted anyway, and its pods are killed with it. */
		is_over = r == -EBUSY && scope == DRAIN_ALL;
		observe_end(observer, "draining node", name, r == 0 || is_over);
	}
	return r;
}

int drain_undo(struct profile *profile, const bool *part, struct error *err)
{
	cleanup_with(strlist_release) struct strlist left = STRLIST_INIT;
	json_auto_t *patch = json_pack("{s:{s:n}}", "spec", "unschedulable");
	const char *name;

	if (profile->drained.count == 0)
		return 0;
	strlist_for_each(name, &profile->drained) {
		cleanup_free char *path = xasprintf("/api/v1/nodes/%s", name);
		const struct node *node = profile_find_node(profile, name);
		int r;

		if (node && !part[node - profile->nodes]) {
			strlist_add(&left, name);
			continue;
		}
		/* A node that was deleted, or never joined, does not exist. */
		r = node ? world->kube(profile, KUBE_MERGE, path, patch, NULL, err) : 0;
		if (r < 0 && r != -ENOENT)
			return error_prefix(err, r, "cannot uncordon node '%s'", name);
		if (r == -ENOENT && err)
			error_clear(err);
	}
	strlist_release(&profile->drained);
	profile->drained = left;
	left = STRLIST_INIT;
	return profile_save(profile, err);
}
