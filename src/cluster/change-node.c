/* Changing a node that exists. */

#include "cluster/change-node.h"

#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "cluster/choices.h"
#include "cluster/cluster.h"
#include "cluster/plan.h"
#include "cluster/spec.h"
#include "cluster/world.h"

#define POLL_MS  200
#define COUNT_MS 20000

/* "KEY-": what is in front of the last '-', for the caller to free; NULL if there is none. */
static char *what_goes(const char *word)
{
	size_t len = strlen(word);

	/* A value may end so, too. */
	if (len < 2 || word[len - 1] != '-' || strchr(word, '='))
		return NULL;
	return xstrndup(word, len - 1);
}

/* Whether WORD of a list begins with KEY and one of the characters ENDS, or is KEY. */
static bool is_about(const char *word, const char *key, const char *ends)
{
	size_t len = strlen(key);

	return strncmp(word, key, len) == 0 && (!word[len] || strchr(ends, word[len]));
}

/* Take out what is about KEY; EFFECT (may be NULL) must be at the end. */
static void take_out(struct strlist *list, const char *key, const char *effect)
{
	struct strlist left = STRLIST_INIT;
	const char *word;

	strlist_for_each(word, list) {
		const char *colon = strrchr(word, ':');

		if (!is_about(word, key, "=:") ||
		    (effect && (!colon || strcmp(colon + 1, effect) != 0)))
			strlist_add(&left, word);
	}
	strlist_release(list);
	*list = left;
}

int node_change_labels(struct strlist *kept, const struct strlist *changes, struct error *err)
{
	const char *word;

	strlist_for_each(word, changes) {
		cleanup_with(spec_release_pair) struct pair_spec label = PAIR_SPEC_INIT;
		cleanup_free char *gone = what_goes(word);
		int r = spec_parse_label(gone ? gone : word, &label, err);

		if (r < 0)
			return error_prefix(err, r, "--label");
		take_out(kept, label.key, NULL);
		if (!gone)
			strlist_add(kept, word);
	}
	return 0;
}

int node_change_taints(struct strlist *kept, const struct strlist *changes, struct error *err)
{
	const char *word;

	strlist_for_each(word, changes) {
		cleanup_with(spec_release_taint) struct taint_spec taint = TAINT_SPEC_INIT;
		cleanup_with(spec_release_pair) struct pair_spec label = PAIR_SPEC_INIT;
		cleanup_free char *gone = what_goes(word);
		int r;

		if (gone && !strchr(gone, ':')) {
			r = spec_parse_label(gone, &label, err);
			if (r == 0)
				take_out(kept, label.key, NULL);
		} else {
			r = spec_parse_taint(gone ? gone : word, &taint, err);
			if (r == 0)
				take_out(kept, taint.label.key, taint.effect);
			if (r == 0 && !gone)
				strlist_add(kept, word);
		}
		if (r < 0)
			return error_prefix(err, r, "--taint");
	}
	return 0;
}

/* Labels as the API wants them: a value, or null for what goes. */
static json_t *label_patch(const struct strlist *changes)
{
	json_t *labels = json_object();
	const char *word;

	strlist_for_each(word, changes) {
		cleanup_with(spec_release_pair) struct pair_spec label = PAIR_SPEC_INIT;
		cleanup_free char *gone = what_goes(word);

		if (spec_parse_label(gone ? gone : word, &label, NULL) == 0)
			(void)json_object_set_new(labels, label.key,
						  gone ? json_null() : json_string(label.value));
	}
	return labels;
}

void node_read_labels(const json_t *object, struct strlist *ret)
{
	json_t *labels = json_object_get(json_object_get(object, "metadata"), "labels");
	const char *key;
	json_t *value;

	json_object_foreach(labels, key, value)
	{
		if (json_is_string(value))
			strlist_addf(ret, "%s=%s", key, json_string_value(value));
	}
}

void node_read_taints(const json_t *object, struct strlist *ret)
{
	const json_t *taints = json_object_get(json_object_get(object, "spec"), "taints");

	for (size_t i = 0; i < json_array_size(taints); i++) {
		const json_t *taint = json_array_get(taints, i);
		const char *key = json_string_value(json_object_get(taint, "key"));
		const char *value = json_string_value(json_object_get(taint, "value"));
		const char *effect = json_string_value(json_object_get(taint, "effect"));

		if (key && effect)
			strlist_addf(ret, "%s%s%s:%s", key, value ? "=" : "", value ? value : "",
				     effect);
	}
}

static json_t *taint_objects(const struct strlist *words)
{
	json_t *list = json_array();
	const char *word;

	strlist_for_each(word, words) {
		cleanup_with(spec_release_taint) struct taint_spec taint = TAINT_SPEC_INIT;

		if (spec_parse_taint(word, &taint, NULL) == 0)
			(void)json_array_append_new(
				list, json_pack("{s:s, s:s*, s:s}", "key", taint.label.key, "value",
						*taint.label.value ? taint.label.value : NULL,
						"effect", taint.effect));
	}
	return list;
}

static int tell_api(const struct profile *profile, const struct node *node,
		    const struct node_changes *changes, struct error *err)
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
		(void)error_prefix(err, r, "labels and taints are the API's");
		return error_reason(err, r, &reason_api_not_running);
	}
	(void)json_object_set_new(patch, "metadata",
				  json_pack("{s:o}", "labels", label_patch(&changes->labels)));
	node_read_taints(object, &taints);
	r = node_change_taints(&taints, &changes->taints, err);
	if (r < 0)
		return r;
	if (changes->taints.count > 0)
		(void)json_object_set_new(patch, "spec",
					  json_pack("{s:o}", "taints", taint_objects(&taints)));
	return world->kube(profile, KUBE_MERGE, path, patch, NULL, err);
}

/* What the kubelet of NODE told last, and when, for the caller to free; NULL if there is nothing.
 */
static char *last_report(const struct profile *profile, const struct node *node)
{
	cleanup_free char *path = xasprintf("/api/v1/nodes/%s", node->name);
	json_auto_t *object = NULL;
	json_t *status;

	if (world->kube(profile, KUBE_GET, path, NULL, &object, NULL) < 0)
		return NULL;
	status = json_object_get(object, "status");
	/* It may have the same capacity with other limits: all CPUs, and as many as there are.  Its
	 * conditions say when it told that. */
	return json_object_get(status, "capacity") ? json_dumps(status, JSON_SORT_KEYS) : NULL;
}

/* Have the kubelet look at its machine again, and wait until it has told what it saw. */
static int count_anew(const struct profile *profile, const struct node *node, struct error *err)
{
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	cleanup_free char *before = last_report(profile, node);
	int64_t deadline_ms = clock_now_ms() + COUNT_MS;
	int r;

	strlist_add(&names, "kubelet");
	r = cluster_node_restart(profile, node, &names, deadline_ms, err);
	while (r == 0 && before && clock_now_ms() < deadline_ms) {
		cleanup_free char *now = last_report(profile, node);

		if (!now || strcmp(now, before) != 0)
			break;
		clock_rest_ms(POLL_MS);
	}
	return r;
}

/* Hold the node to its new limits; RET_COUNTS: Kubernetes counts with them. */
static int limit(const struct profile *profile, const struct node *node, bool *ret_counts,
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
	if (node->phase == NODE_JOINED && count_anew(profile, node, &why) < 0) {
		log_debug("the kubelet of node '%s' runs on: %s", node->name, why.text);
		*ret_counts = false;
	}
	return 0;
}

/* A disk can only grow, and only where there is one; a node that is yet to be made may get any. */
static int check_disk(const struct profile *profile, const struct node *node, uint64_t bytes,
		      struct error *err)
{
	int r = choices_check_disk(bytes, err);

	if (r < 0 || !bytes || cluster_node_state(profile, node) == NODE_ABSENT)
		return r;
	if (!node->disk_bytes) {
		(void)error_because(err, &reason_usage, -EINVAL,
				    "node '%s' was made without a disk of its own, and can't get "
				    "one any more",
				    node->name);
		return error_hint(err, -EINVAL,
				  "'manykube node add --disk-size=SIZE' adds a node that has one");
	}
	if (bytes < node->disk_bytes) {
		(void)error_because(err, &reason_usage, -EINVAL,
				    "the disk of node '%s' has %llu MiB, and can only grow",
				    node->name, (unsigned long long)(node->disk_bytes >> 20));
		return error_hint(err, -EINVAL, "give more, or add a node with a smaller disk");
	}
	return 0;
}

/* Take up the limits of CHANGES; returns whether they are others. */
static bool take_limits(const struct node_changes *changes, struct node *node)
{
	unsigned cpus = plan_cpus(changes->cpus, node->cpus);
	uint64_t memory_bytes = plan_memory(changes->memory_bytes, node->memory_bytes);
	bool differ = cpus != node->cpus || memory_bytes != node->memory_bytes;

	node->cpus = cpus;
	node->memory_bytes = memory_bytes;
	return differ;
}

/* A paused API would neither answer nor refuse to.  The disk is none of its business. */
static int check_awake(const struct profile *profile, const struct node *node,
		       const struct node_changes *changes, struct error *err)
{
	bool is_told = changes->labels.count > 0 || changes->taints.count > 0 || changes->cpus ||
		       changes->memory_bytes;

	return is_told && node->phase == NODE_JOINED ? cluster_need_awake(profile, err) : 0;
}

int cluster_change_node(struct profile *profile, const char *name,
			const struct node_changes *changes, bool *ret_needs_restart,
			struct error *err)
{
	bool counts = true;
	bool grows;
	struct node *node;
	int r = profile_need_node(profile, name, &node, err);

	if (r == 0)
		r = check_awake(profile, node, changes, err);
	if (r == 0)
		r = check_disk(profile, node, changes->disk_bytes, err);
	if (r == 0)
		r = node_change_labels(&node->labels, &changes->labels, err);
	if (r == 0)
		r = node_change_taints(&node->taints, &changes->taints, err);
	/* A node that never joined gets them when it does. */
	if (r == 0 && node->phase == NODE_JOINED)
		r = tell_api(profile, node, changes, err);
	if (r < 0)
		return r;
	grows = changes->disk_bytes && changes->disk_bytes != node->disk_bytes &&
		cluster_node_state(profile, node) == NODE_RUNNING;
	if (changes->disk_bytes)
		node->disk_bytes = changes->disk_bytes;
	if (node->control_plane)
		node->worker = !strlist_has(&node->taints, CONTROL_PLANE_TAINT);
	if (take_limits(changes, node))
		r = limit(profile, node, &counts, err);
	*ret_needs_restart = grows || !counts;
	node->outdated = node->outdated || *ret_needs_restart;
	if (r == 0)
		r = profile_save(profile, err);
	if (r == 0)
		world->after("change node");
	return r;
}
