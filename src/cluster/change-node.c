/* Changing a node that exists. */

#include "cluster/change-node.h"

#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "cluster/choices.h"
#include "cluster/plan.h"
#include "cluster/spec.h"
#include "cluster/world.h"

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

/* Hold the node to its new limits. */
static int limit(const struct profile *profile, const struct node *node, struct error *err)
{
	cleanup_with(cluster_node_release) struct cluster_node at = CLUSTER_NODE_INIT;
	int r = cluster_node_open(profile, node, &at, err);

	if (r == 0 && at.driver->query(&at.spec) == NODE_RUNNING)
		r = at.driver->limit(&at.spec, err);
	return r;
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

int cluster_change_node(struct profile *profile, const char *name,
			const struct node_changes *changes, bool *ret_needs_restart,
			struct error *err)
{
	bool limits = changes->cpus || changes->memory_bytes || changes->disk_bytes;
	struct node *node;
	int r = profile_need_node(profile, name, &node, err);

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
	if (changes->cpus)
		node->cpus = changes->cpus;
	if (changes->memory_bytes)
		node->memory_bytes = changes->memory_bytes;
	if (changes->disk_bytes)
		node->disk_bytes = changes->disk_bytes;
	if (node->control_plane)
		node->worker = !strlist_has(&node->taints, CONTROL_PLANE_TAINT);
	if (limits)
		r = limit(profile, node, err);
	*ret_needs_restart = limits && cluster_node_state(profile, node) == NODE_RUNNING;
	node->outdated = node->outdated || *ret_needs_restart;
	if (r == 0)
		r = profile_save(profile, err);
	if (r == 0)
		world->after("change node");
	return r;
}
