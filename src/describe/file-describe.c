/* Describing an existing cluster as a file does; and converting a file to JSON. */

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "data/words.h"
#include "describe/file-fields.h"
#include "describe/file.h"
#include "driver/driver.h"
#include "record/limits.h"
#include "record/options.h"
#include "record/spec.h"

/* The words of LIST that are not in DEFAULTS.  If REMOVABLE, also the keys of DEFAULTS, the part
 * before '=', that are not in LIST, followed by '-'. */
static void subtract(const struct strlist *list, const struct strlist *defaults, bool removable,
		     struct strlist *ret)
{
	const char *word;

	strlist_for_each(word, list)
		if (!strlist_has(defaults, word))
			strlist_add(ret, word);
	strlist_for_each(word, defaults) {
		cleanup_free char *key = xstrndup(word, strcspn(word, "=:"));
		const char *effect = strrchr(word, ':');
		bool replaced = strlist_has(list, word);

		for (size_t i = 0; i < list->count; i++)
			replaced = replaced || (strncmp(list->items[i], key, strlen(key)) == 0 &&
						strchr("=:", list->items[i][strlen(key)]) &&
						(!effect || strstr(list->items[i], effect)));
		if (!replaced && removable)
			strlist_addf(ret, "%s%s-", key, effect ? effect : "");
	}
}

/* Copy FIELD of NODE to WANTED if it differs from the defaults. */
static void describe_own(const struct setting *field, const struct profile *profile,
			 const struct node *node, struct node_options *wanted)
{
	bool shared = field->places & SETTING_OF_DEFAULTS || field->type == SETTING_VERSION;
	const void *from = setting_in_node(field, &node->settings);
	const void *usual = shared ? setting_in_cluster(field, &profile->settings) : NULL;
	void *to = setting_in_node(field, &wanted->settings);

	if (setting_is_list(field)) {
		subtract(from, usual ? usual : &STRLIST_INIT, field->change, to);
	} else if (!usual || !setting_equals(field, usual, from)) {
		setting_borrow(field, from, to);
		setting_say_all(field, to);
	}
}

static void describe_node(const struct profile *profile, const struct node *node,
			  struct node_options *ret, struct strlist *ret_chosen)
{
	const struct setting *field;

	*ret = (struct node_options){ .control_plane = node->control_plane,
				      .no_schedule = node->control_plane && !node->worker };
	setting_for_each(field) {
		if (!setting_is_of_node(field))
			continue;
		if (!field->chosen_for_you || node->asked_address)
			describe_own(field, profile, node, ret);
		else if (ret_chosen)
			strlist_addf(ret_chosen, "%s of %s %s", field->name, node->name,
				     node->address);
	}
	/* The taint follows from no_schedule. */
	if (ret->no_schedule) {
		struct strlist taints = STRLIST_INIT;
		const char *taint;

		strlist_for_each(taint, &ret->taints)
			if (strcmp(taint, CONTROL_PLANE_TAINT) != 0)
				strlist_add(&taints, taint);
		strlist_release(&ret->taints);
		ret->taints = taints;
	}
}

static void describe_cluster(const struct profile *profile, struct cluster_file *ret,
			     struct strlist *ret_chosen)
{
	const struct setting *field;

	setting_for_each(field) {
		const void *from = setting_in_cluster(field, &profile->settings);

		if (!setting_is_of_cluster(field))
			continue;
		if (field->chosen_for_you && !strlist_has(&profile->asked, field->name)) {
			cleanup_free char *text = setting_print(field, from);

			if (ret_chosen && text)
				strlist_addf(ret_chosen, "%s %s", field->name, text);
			continue;
		}
		setting_borrow(field, from, setting_in_cluster(field, &ret->options.settings));
		if (field->type == SETTING_FLAG)
			*setting_in_flags(field, &ret->options.given) = true;
		if (field->option)
			strlist_add(&ret->given, field->option);
	}
}

void cluster_file_describe(const struct profile *profile, struct cluster_file *ret,
			   struct strlist *ret_chosen)
{
	const struct node *node;

	*ret = (struct cluster_file){ .source = xstrdup(profile->name),
				      .name = xstrdup(profile->name) };
	describe_cluster(profile, ret, ret_chosen);
	ret->nodes = xcalloc(profile->node_count + 1, sizeof(*ret->nodes));
	/* The primary comes first: it is the first control plane of a file. */
	for (int primary = 1; primary >= 0; primary--)
		profile_for_each_node(node, profile)
			if (node->primary == primary && node->phase != NODE_LEAVING)
				describe_node(profile, node, &ret->nodes[ret->node_count++],
					      ret_chosen);
	strlist_add(&ret->given, "nodes");
}

/* TEXT as a JSON number, flag or structure if it is one, else as a string. */
static json_t *value_of(const char *text)
{
	json_t *value = json_loads(text, JSON_DECODE_ANY, NULL);
	cleanup_free char *again = value ? json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;

	/* A value that would be printed differently stays a string. */
	if (again && strcmp(again, text) == 0 && !json_is_string(value) && !json_is_null(value) &&
	    !json_is_real(value))
		return value;
	json_decref(value);
	return json_string(text);
}

static json_t *pairs_to_json(const struct setting *field, const struct strlist *words)
{
	json_t *map = json_object();
	const char *word;

	strlist_for_each(word, words) {
		size_t len = strcspn(word, "=");
		bool removes = !word[len] && len > 0 && word[len - 1] == '-';
		cleanup_free char *key = xstrndup(word, removes ? len - 1 : len);
		const char *value = word[len] ? word + len + 1 : "";

		(void)json_object_set_new(map, key,
					  removes ? json_null()
					  : field->type == SETTING_GATES
						  ? json_boolean(strcmp(value, "true") == 0)
						  : json_string(value));
	}
	return map;
}

static json_t *extra_to_json(const struct strlist *words)
{
	json_t *map = json_object();
	const char *word;

	strlist_for_each(word, words) {
		cleanup_with(spec_release_extra) struct extra_spec extra = EXTRA_SPEC_INIT;
		json_t *component;

		if (spec_parse_extra(word, &extra, NULL) < 0)
			continue;
		component = json_object_get(map, extra.component);
		if (!component) {
			component = json_object();
			(void)json_object_set_new(map, extra.component, component);
		}
		(void)json_object_set_new(component, extra.key, value_of(extra.value));
	}
	return map;
}

static bool has_string(const json_t *list, const char *text)
{
	for (size_t i = 0; i < json_array_size(list); i++)
		if (strcmp(json_string_value(json_array_get(list, i)), text) == 0)
			return true;
	return false;
}

/* URLs that differ only by a trailing slash are the same. */
static json_t *mirrors_to_json(const struct strlist *words)
{
	json_t *map = json_object();
	const char *word;

	strlist_for_each(word, words) {
		cleanup_with(spec_release_pair) struct pair_spec mirror = PAIR_SPEC_INIT;
		json_t *urls;

		if (spec_parse_mirror(word, &mirror, NULL) < 0)
			continue;
		urls = json_object_get(map, mirror.key);
		if (!urls) {
			urls = json_array();
			(void)json_object_set_new(map, mirror.key, urls);
		}
		if (!has_string(urls, mirror.value))
			(void)json_array_append_new(urls, json_string(mirror.value));
	}
	return map;
}

static json_t *patches_to_json(const struct strlist *words)
{
	json_t *list = json_array();
	const char *word;

	strlist_for_each(word, words)
		(void)json_array_append_new(list, json_loads(word, 0, NULL));
	return list;
}

/* Returns NULL for a member that is unset, or has the default value. */
static json_t *member_to_json(const struct setting *field, const void *member)
{
	cleanup_free char *text = NULL;

	if (setting_is_list(field) && ((const struct strlist *)member)->count == 0)
		return NULL;
	switch (field->type) {
	case SETTING_WORDS:
	case SETTING_PATHS:
		return words_to_json(member);
	case SETTING_PAIRS:
	case SETTING_GATES:
		return pairs_to_json(field, member);
	case SETTING_EXTRA:
		return extra_to_json(member);
	case SETTING_MIRRORS:
		return mirrors_to_json(member);
	case SETTING_PATCHES:
		return patches_to_json(member);
	default:
		text = setting_print(field, member);
	}
	if (!text || (field->usual && strcmp(text, field->usual) == 0))
		return NULL;
	return field->type == SETTING_FLAG || field->type == SETTING_NUMBER ? value_of(text)
									    : json_string(text);
}

/* The contents of one part of a file: the settings of a cluster, or of a node. */
struct part {
	enum setting_place place;
	const struct cluster_settings *cluster;
	const struct node_settings *node;
};

static json_t *part_to_json(struct part part, const char *in);

/* The value of FIELD in PART; NULL if it has none. */
static json_t *field_to_json(const struct setting *field, struct part part)
{
	if (field->type == SETTING_MAP && strcmp(field->name, "defaults") == 0)
		return part_to_json((struct part){ SETTING_OF_DEFAULTS, part.cluster }, "");
	if (field->type == SETTING_MAP)
		return part_to_json(part, field->name);
	/* A setting that could be in two places is written to one. */
	if (!field->has_member ||
	    (part.place == SETTING_OF_CLUSTER && field->places & SETTING_OF_DEFAULTS))
		return NULL;
	return member_to_json(field, part.node ? setting_in_node(field, part.node)
					       : setting_in_cluster(field, part.cluster));
}

static void add_members(json_t *map, struct part part, const char *in)
{
	const struct setting *field;

	setting_for_each(field) {
		json_t *value = file_field_is_in(field, part.place, in) ? field_to_json(field, part)
									: NULL;

		if (value)
			(void)json_object_set_new(map, file_field_key(field), value);
	}
}

/* The fields of the map IN in a part of the file; NULL if all are unset. */
static json_t *part_to_json(struct part part, const char *in)
{
	json_t *map = json_object();

	add_members(map, part, in);
	if (json_object_size(map) > 0)
		return map;
	json_decref(map);
	return NULL;
}

static json_t *node_to_json(const struct node_options *options)
{
	const struct part part = { SETTING_OF_NODE, .node = &options->settings };
	json_t *node = json_pack("{s:s}", "role",
				 options->control_plane ? "control-plane" : "worker");

	if (options->no_schedule)
		(void)json_object_set_new(node, "noSchedule", json_true());
	add_members(node, part, "");
	return node;
}

static json_t *nodes_to_json(const struct cluster_file *file)
{
	json_t *list = json_array();

	for (size_t i = 0; i < file->node_count; i++)
		(void)json_array_append_new(list, node_to_json(&file->nodes[i]));
	return list;
}

json_t *cluster_file_to_json(const struct cluster_file *file)
{
	json_t *root = json_pack("{s:s, s:s, s:s}", "apiVersion", FILE_API_VERSION, "kind",
				 FILE_KIND, "name", file->name);

	add_members(root, (struct part){ SETTING_OF_CLUSTER, &file->options.settings }, "");
	if (file->node_count > 0)
		(void)json_object_set_new(root, "nodes", nodes_to_json(file));
	return root;
}
