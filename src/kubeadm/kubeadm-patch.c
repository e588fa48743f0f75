/* User-defined changes to kubeadm's configuration. */

#include "kubeadm/kubeadm-patch.h"

#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/suggest.h"
#include "data/json-patch.h"

const char *const kubeadm_patch_kinds[] = {
	"ClusterConfiguration", "InitConfiguration",      "JoinConfiguration",
	"KubeletConfiguration", "KubeProxyConfiguration", NULL,
};

/* Fields that must match the nodes, networks and certificates that manykube creates. */
static const struct {
	const char *kind;
	const char *path;
} ours[] = {
	{ "ClusterConfiguration", "/controlPlaneEndpoint" },
	{ "ClusterConfiguration", "/clusterName" },
	{ "ClusterConfiguration", "/kubernetesVersion" },
	{ "ClusterConfiguration", "/networking" },
	{ "InitConfiguration", "/localAPIEndpoint" },
	{ "InitConfiguration", "/bootstrapTokens" },
	{ "InitConfiguration", "/nodeRegistration/name" },
	{ "InitConfiguration", "/nodeRegistration/criSocket" },
	{ "JoinConfiguration", "/discovery" },
	{ "JoinConfiguration", "/controlPlane" },
	{ "JoinConfiguration", "/nodeRegistration/name" },
	{ "JoinConfiguration", "/nodeRegistration/criSocket" },
	{ "KubeletConfiguration", "/cgroupDriver" },
	{ "KubeProxyConfiguration", "/mode" },
};

bool kubeadm_patch_reaches(const char *kind, bool is_primary)
{
	return (strcmp(kind, "JoinConfiguration") == 0) != is_primary;
}

static bool is_below(const char *path, const char *dir)
{
	size_t len = strlen(dir);

	return strncmp(path, dir, len) == 0 && (!path[len] || path[len] == '/');
}

/* Remove the field PATH from OBJECT; returns whether it existed, or whether a parent of it is not
 * an object and so would replace it. */
static bool remove_field(json_t *object, const char *path)
{
	cleanup_free char *key = xstrndup(path + 1, strcspn(path + 1, "/"));
	const char *rest = path + 1 + strlen(key);
	json_t *member = json_object_get(object, key);

	if (!member)
		return false;
	if (*rest && json_is_object(member))
		return remove_field(member, rest);
	(void)json_object_del(object, key);
	return true;
}

void kubeadm_patch_strip(const char *kind, json_t *merge, struct strlist *ret_removed)
{
	(void)json_object_del(merge, "kind");
	(void)json_object_del(merge, "apiVersion");
	/* kubeadm's documents have no names; metadata in a patch has no effect. */
	(void)json_object_del(merge, "metadata");
	for (size_t i = 0; i < ARRAY_SIZE(ours); i++)
		if (strcmp(ours[i].kind, kind) == 0 && remove_field(merge, ours[i].path))
			strlist_add(ret_removed, ours[i].path + 1);
}

/* The path in ours[] that OPERATIONS on a KIND would change, or NULL. */
static const char *find_changed_field(const char *kind, const json_t *operations)
{
	for (size_t i = 0; i < json_array_size(operations); i++) {
		const json_t *operation = json_array_get(operations, i);
		const char *op = json_string_value(json_object_get(operation, "op"));
		const char *paths[] = {
			json_string_value(json_object_get(operation, "path")),
			strcmp(op, "move") == 0
				? json_string_value(json_object_get(operation, "from"))
				: NULL,
		};

		for (size_t n = 0; strcmp(op, "test") != 0 && n < ARRAY_SIZE(ours); n++)
			for (size_t p = 0; p < ARRAY_SIZE(paths) && paths[p]; p++)
				if (strcmp(ours[n].kind, kind) == 0 &&
				    (is_below(paths[p], ours[n].path) ||
				     is_below(ours[n].path, paths[p])))
					return ours[n].path + 1;
	}
	return NULL;
}

static int check_kind(const char *kind, struct error *err)
{
	struct suggest suggest = SUGGEST_INIT(kind);

	for (const char *const *known = kubeadm_patch_kinds; *known; known++) {
		if (strcmp(*known, kind) == 0)
			return 0;
		suggest_offer(&suggest, *known);
	}
	return error_set(err, -EINVAL, "kubeadm has no '%s'%s%s%s", kind,
			 suggest.nearest ? "; did you mean '" : "",
			 suggest.nearest ? suggest.nearest : "", suggest.nearest ? "'?" : "");
}

static int check_change(const json_t *change, struct error *err)
{
	const char *kind = json_string_value(json_object_get(change, "kind"));
	const json_t *merge = json_object_get(change, "merge");
	const json_t *operations = json_object_get(change, "operations");
	cleanup_with(strlist_release) struct strlist taken = STRLIST_INIT;
	json_auto_t *copy = NULL;
	const char *path;
	int r;

	if (!kind || !merge == !operations || json_object_size(change) != 2)
		return error_set(err, -EINVAL,
				 "a kubeadm patch must have a 'kind', and either "
				 "'merge' or 'operations'");
	r = check_kind(kind, err);
	if (r == 0 && operations)
		r = json_patch_check(operations, err);
	if (r < 0)
		return r;
	if (merge && !json_is_object(merge))
		return error_set(err, -EINVAL, "'merge' is not a mapping");
	copy = merge ? json_deep_copy(merge) : NULL;
	if (copy)
		kubeadm_patch_strip(kind, copy, &taken);
	path = operations    ? find_changed_field(kind, operations)
	       : taken.count ? taken.items[0]
			     : NULL;
	if (path)
		return error_set(err, -EINVAL, "'%s' of %s is set by manykube itself", path, kind);
	return 0;
}

int kubeadm_patch_check(const char *word, struct error *err)
{
	json_auto_t *change = json_loads(word, JSON_REJECT_DUPLICATES, NULL);
	int r = check_change(change, err);

	return r < 0 ? error_reason(err, r, &reason_usage) : 0;
}

/* Arguments as a list of names and values; VALUE may also be a mapping. */
static json_t *as_arguments(const json_t *value)
{
	json_t *list = json_array();
	const char *name;
	json_t *item;
	size_t i;

	json_array_foreach(value, i, item)
		(void)json_array_append_new(list, json_deep_copy(item));
	json_object_foreach((json_t *)(uintptr_t)value, name, item)
		(void)json_array_append_new(list,
					    json_pack("{s:s, s:O}", "name", name, "value", item));
	return list;
}

/* The index of the argument called NAME in LIST; the size of LIST if there is none. */
static size_t find_argument(const json_t *list, const char *name)
{
	size_t i = 0;

	while (i < json_array_size(list) &&
	       strcmp(json_string_value(json_object_get(json_array_get(list, i), "name")), name) !=
		       0)
		i++;
	return i;
}

/* Arguments are strings, whatever type they are written as. */
static json_t *argument_text(const json_t *value)
{
	cleanup_free char *text = json_is_string(value) ? xstrdup(json_string_value(value))
							: json_dumps(value, JSON_ENCODE_ANY);

	return json_string(text ? text : "");
}

/* Set the argument NAME in LIST to VALUE, or remove it if VALUE is null or NULL. */
static void set_argument(json_t *list, const char *name, const json_t *value)
{
	size_t at = find_argument(list, name);
	json_t *there = json_array_get(list, at);
	const char *before = json_string_value(json_object_get(there, "value"));

	if (there && (!value || json_is_null(value))) {
		(void)json_array_remove(list, at);
	} else if (there && strcmp(name, "node-labels") == 0 && json_is_string(value)) {
		/* Keep the node's own labels. */
		cleanup_free char *both = xasprintf("%s,%s", before, json_string_value(value));

		(void)json_object_set_new(there, "value", json_string(both));
	} else if (there) {
		(void)json_object_set_new(there, "value", argument_text(value));
	} else if (value && !json_is_null(value)) {
		(void)json_array_append_new(
			list, json_pack("{s:s, s:o}", "name", name, "value", argument_text(value)));
	}
}

static void merge_arguments(json_t *list, const json_t *patch)
{
	json_auto_t *arguments = as_arguments(patch);
	json_t *argument;
	size_t i;

	json_array_foreach(arguments, i, argument) {
		const char *name = json_string_value(json_object_get(argument, "name"));

		if (name)
			set_argument(list, name, json_object_get(argument, "value"));
	}
}

static bool holds_arguments(const char *key)
{
	return strcmp(key, "extraArgs") == 0 || strcmp(key, "kubeletExtraArgs") == 0;
}

static void merge_names(json_t *list, const json_t *patch)
{
	json_t *name;
	size_t i;

	json_array_foreach(patch, i, name) {
		size_t at = 0;

		while (at < json_array_size(list) && !json_equal(json_array_get(list, at), name))
			at++;
		if (at == json_array_size(list))
			(void)json_array_append(list, name);
	}
}

/* The list KEY of OBJECT, created if it is missing. */
static json_t *list_of(json_t *object, const char *key)
{
	json_t *list = json_object_get(object, key);

	if (!json_is_array(list)) {
		list = json_array();
		(void)json_object_set_new(object, key, list);
	}
	return list;
}

/* Merge the lists with special rules into TARGET, and remove them from PATCH. */
static void merge_lists(json_t *target, json_t *patch)
{
	const char *key;
	json_t *value;
	void *next;

	json_object_foreach_safe(patch, next, key, value) {
		if (holds_arguments(key)) {
			merge_arguments(list_of(target, key), value);
			(void)json_object_del(patch, key);
		} else if (strcmp(key, "certSANs") == 0) {
			merge_names(list_of(target, key), value);
			(void)json_object_del(patch, key);
		} else if (json_is_object(value)) {
			json_t *member = json_object_get(target, key);

			if (!json_is_object(member)) {
				member = json_object();
				(void)json_object_set_new(target, key, member);
			}
			merge_lists(member, value);
		}
	}
}

/* Apply OPERATION if its path names an argument, /apiServer/extraArgs/v, as was possible when
 * kubeadm had mappings of arguments.  Returns whether it did. */
static bool apply_to_argument(json_t *document, const json_t *operation)
{
	cleanup_with(strlist_release) struct strlist keys = STRLIST_INIT;
	const char *op = json_string_value(json_object_get(operation, "op"));
	bool removes = strcmp(op, "remove") == 0;
	const char *name;

	strlist_split(&keys, json_string_value(json_object_get(operation, "path")), '/');
	name = keys.count >= 2 ? keys.items[keys.count - 1] : "";
	if (!*name || strspn(name, "-0123456789") == strlen(name) ||
	    !holds_arguments(keys.items[keys.count - 2]) ||
	    (!removes && strcmp(op, "add") != 0 && strcmp(op, "replace") != 0))
		return false;
	for (size_t i = 0; i < keys.count - 2 && document; i++)
		document = json_object_get(document, keys.items[i]);
	if (!json_is_object(document))
		return false;
	set_argument(list_of(document, keys.items[keys.count - 2]), name,
		     removes ? NULL : json_object_get(operation, "value"));
	return true;
}

static int apply_operations(json_t **document, const json_t *operations, struct error *err)
{
	for (size_t i = 0; i < json_array_size(operations); i++) {
		const json_t *operation = json_array_get(operations, i);
		int r = apply_to_argument(*document, operation)
				? 0
				: json_patch_apply_one(document, operation, err);

		if (r < 0)
			return error_prefix(err, r, "operation %zu", i + 1);
	}
	return 0;
}

/*
 * Apply those of WORDS to *DOCUMENT that are merge patches or, without MERGES, those that are not.
 */
static int apply_words(json_t **document, const struct strlist *words, bool merges,
		       struct error *err)
{
	const char *kind = json_string_value(json_object_get(*document, "kind"));
	const char *word;
	int r = 0;

	strlist_for_each(word, words) {
		json_auto_t *change = json_loads(word, JSON_REJECT_DUPLICATES, NULL);
		json_t *merge = json_object_get(change, "merge");

		if (r < 0 || check_change(change, NULL) < 0 || !merge == merges ||
		    strcmp(json_string_value(json_object_get(change, "kind")), kind) != 0)
			continue;
		if (merge) {
			merge_lists(*document, merge);
			json_patch_merge(*document, merge);
		} else {
			r = apply_operations(document, json_object_get(change, "operations"), err);
		}
	}
	if (r < 0) {
		(void)error_prefix(err, r, "cannot apply a patch to %s", kind);
		(void)error_reason(err, r, &reason_usage);
	}
	return r;
}

int kubeadm_patch_apply(json_t **document, const struct profile *profile, const struct node *node,
			struct error *err)
{
	int r = 0;

	for (int merges = 1; r == 0 && merges >= 0; merges--) {
		r = apply_words(document, &profile->kubeadm_patches, merges, err);
		if (r == 0)
			r = apply_words(document, &node->kubeadm_patches, merges, err);
	}
	return r;
}
