/* Labels and taints of nodes, as words and as API objects. */

#include "record/labels.h"

#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "record/spec.h"

/* Whether WORD is KEY, or KEY followed by one of the characters ENDS. */
static bool word_has_key(const char *word, const char *key, const char *ends)
{
	size_t len = strlen(key);

	return strncmp(word, key, len) == 0 && (!word[len] || strchr(ends, word[len]));
}

/* Remove the words with KEY from LIST; if EFFECT is not NULL, only those that end with it. */
static void remove_key(struct strlist *list, const char *key, const char *effect)
{
	struct strlist left = STRLIST_INIT;
	const char *word;

	strlist_for_each(word, list) {
		const char *colon = strrchr(word, ':');

		if (!word_has_key(word, key, "=:") ||
		    (effect && (!colon || strcmp(colon + 1, effect) != 0)))
			strlist_add(&left, word);
	}
	strlist_release(list);
	*list = left;
}

bool labels_is_kubelets(const char *key)
{
	static const char *const keys[] = { "kubernetes.io/hostname", "kubernetes.io/os",
					    "kubernetes.io/arch", "beta.kubernetes.io/os",
					    "beta.kubernetes.io/arch" };

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (strcmp(keys[i], key) == 0)
			return true;
	return false;
}

static int refuse_kubelets(const char *key, struct error *err)
{
	(void)error_because(
		err, &reason_usage, -EINVAL,
		"the label '%s' is set by the kubelet, and volumes and pods depend on it", key);
	return error_hint(err, -EINVAL, "use a label of your own, such as example.com/name");
}

int labels_check(const char *word, struct error *err)
{
	cleanup_with(spec_release_pair) struct pair_spec label = PAIR_SPEC_INIT;
	cleanup_free char *removed = spec_parse_removal(word);
	int r = spec_parse_label(removed ? removed : word, &label, err);

	return r == 0 && labels_is_kubelets(label.key) ? refuse_kubelets(label.key, err) : r;
}

/* Whether LIST has a label with KEY. */
static bool has_label(const struct strlist *list, const char *key)
{
	const char *word;

	strlist_for_each(word, list)
		if (word_has_key(word, key, "="))
			return true;
	return false;
}

int labels_change(struct strlist *kept, const struct strlist *changes, struct error *err)
{
	const char *word;

	strlist_for_each(word, changes) {
		cleanup_with(spec_release_pair) struct pair_spec label = PAIR_SPEC_INIT;
		cleanup_free char *removed = spec_parse_removal(word);
		int r = spec_parse_label(removed ? removed : word, &label, err);

		if (r == 0 && labels_is_kubelets(label.key) &&
		    !(removed && has_label(kept, label.key)))
			r = refuse_kubelets(label.key, err);
		if (r < 0)
			return error_prefix(err, r, "--label");
		remove_key(kept, label.key, NULL);
		if (!removed)
			strlist_add(kept, word);
	}
	return 0;
}

int labels_change_taints(struct strlist *kept, const struct strlist *changes, struct error *err)
{
	const char *word;

	strlist_for_each(word, changes) {
		cleanup_with(spec_release_taint) struct taint_spec taint = TAINT_SPEC_INIT;
		cleanup_with(spec_release_pair) struct pair_spec label = PAIR_SPEC_INIT;
		cleanup_free char *removed = spec_parse_removal(word);
		int r;

		if (removed && !strchr(removed, ':')) {
			r = spec_parse_label(removed, &label, err);
			if (r == 0)
				remove_key(kept, label.key, NULL);
		} else {
			r = spec_parse_taint(removed ? removed : word, &taint, err);
			if (r == 0)
				remove_key(kept, taint.label.key, taint.effect);
			if (r == 0 && !removed)
				strlist_add(kept, word);
		}
		if (r < 0)
			return error_prefix(err, r, "--taint");
	}
	return 0;
}

json_t *labels_patch(const struct strlist *changes)
{
	json_t *labels = json_object();
	const char *word;

	strlist_for_each(word, changes) {
		cleanup_with(spec_release_pair) struct pair_spec label = PAIR_SPEC_INIT;
		cleanup_free char *removed = spec_parse_removal(word);

		if (spec_parse_label(removed ? removed : word, &label, NULL) == 0 &&
		    !labels_is_kubelets(label.key))
			(void)json_object_set_new(labels, label.key,
						  removed ? json_null() : json_string(label.value));
	}
	return labels;
}

void labels_read(const json_t *object, struct strlist *ret)
{
	json_t *labels = json_object_get(json_object_get(object, "metadata"), "labels");
	const char *key;
	json_t *value;

	json_object_foreach(labels, key, value) {
		if (json_is_string(value))
			strlist_addf(ret, "%s=%s", key, json_string_value(value));
	}
}

void labels_read_taints(const json_t *object, struct strlist *ret)
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

json_t *labels_taint_objects(const struct strlist *words)
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
