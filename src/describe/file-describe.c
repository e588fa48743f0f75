/* A cluster that exists, described as by a file; and what a file says, as JSON. */

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

static void *at(const void *base, size_t offset)
{
	return (char *)(uintptr_t)base + offset;
}

static char *size_text(uint64_t bytes)
{
	static const char units[] = "bkmgt";
	size_t unit = 0;

	while (unit < 4 && bytes % 1024 == 0) {
		bytes /= 1024;
		unit++;
	}
	return xasprintf("%llu%c", (unsigned long long)bytes, units[unit]);
}

static char *seconds_text(unsigned seconds)
{
	if (seconds % 3600 == 0)
		return xasprintf("%uh", seconds / 3600);
	return seconds % 60 == 0 ? xasprintf("%um", seconds / 60) : xasprintf("%us", seconds);
}

char *file_member_text(const struct file_field *field, const void *member)
{
	switch (field->type) {
	case FILE_FLAG:
		return *(const bool *)member ? xstrdup("true") : NULL;
	case FILE_NUMBER:
		if (field->may_be_all && *(const unsigned *)member == ALL_CPUS)
			return xstrdup("max");
		return *(const unsigned *)member ? xasprintf("%u", *(const unsigned *)member)
						 : NULL;
	case FILE_SIZE:
		if (field->may_be_all && *(const uint64_t *)member == ALL_MEMORY)
			return xstrdup("max");
		return *(const uint64_t *)member ? size_text(*(const uint64_t *)member) : NULL;
	case FILE_SECONDS:
		return *(const unsigned *)member ? seconds_text(*(const unsigned *)member) : NULL;
	default:
		return *(char *const *)member ? xstrdup(*(char *const *)member) : NULL;
	}
}

/* What is in LIST and not in DEFAULTS; what of the DEFAULTS it lacks is there with a '-' behind
 * what it is known by, which is in front of '='. */
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

/* Whether WORD is what nodes have of FIELD unless told otherwise, USUAL being what all of the
 * cluster have. */
static bool is_usual_word(const struct file_field *field, const void *usual, const char *word)
{
	const char *all = usual ? *(char *const *)usual : NULL;

	if (!all && strcmp(field->name, "driver") == 0)
		all = node_driver_default()->name;
	return all && strcmp(all, word) == 0;
}

/* Copy FIELD of NODE to what it is WANTED to be, as far as it is not what all nodes have. */
static void describe_own(const struct file_field *field, const struct profile *profile,
			 const struct node *node, struct node_options *wanted)
{
	/* Nothing of a cluster's that nodes have is at the beginning of its record. */
	bool shared = field->kept > 0;
	bool removable = field->option && (strcmp(field->option, "label") == 0 ||
					   strcmp(field->option, "taint") == 0);
	const void *from = at(node, field->node_kept);
	const void *usual = shared ? at(profile, field->kept) : NULL;
	void *to = at(wanted, field->node_wanted);

	if (field->type >= FILE_WORDS)
		subtract(from, usual ? usual : &STRLIST_INIT, removable, to);
	else if (field->type == FILE_SIZE)
		*(uint64_t *)to = usual && *(const uint64_t *)usual == *(const uint64_t *)from ? 0
				  : field->may_be_all && !*(const uint64_t *)from
					  ? ALL_MEMORY
					  : *(const uint64_t *)from;
	else if (field->type == FILE_NUMBER || field->type == FILE_SECONDS)
		*(unsigned *)to = usual && *(const unsigned *)usual == *(const unsigned *)from ? 0
				  : field->may_be_all && !*(const unsigned *)from
					  ? ALL_CPUS
					  : *(const unsigned *)from;
	else if (*(char *const *)from && !is_usual_word(field, usual, *(char *const *)from))
		*(const char **)to = *(char *const *)from;
}

static void describe_node(const struct profile *profile, const struct node *node,
			  struct node_options *ret, struct strlist *ret_chosen)
{
	const struct file_field *field;

	*ret = (struct node_options){ .control_plane = node->control_plane,
				      .no_schedule = node->control_plane && !node->worker };
	file_for_each_field(field) {
		if (!(field->places & FILE_OF_NODE) || !field->has_member ||
		    field->type == FILE_FLAG)
			continue;
		if (!field->chosen_for_you || node->asked_address)
			describe_own(field, profile, node, ret);
		else if (ret_chosen)
			strlist_addf(ret_chosen, "%s of %s %s", field->name, node->name,
				     node->address);
	}
	/* It goes with that. */
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
	const struct file_field *field;

	file_for_each_field(field) {
		const void *from = at(profile, field->kept);
		void *to = at(&ret->options, field->wanted);

		if (!(field->places & (FILE_OF_CLUSTER | FILE_OF_DEFAULTS)) || !field->has_member)
			continue;
		if (field->chosen_for_you && !strlist_has(&profile->asked, field->name)) {
			cleanup_free char *text = file_member_text(field, from);

			if (ret_chosen && text)
				strlist_addf(ret_chosen, "%s %s", field->name, text);
			continue;
		}
		file_copy_member(field, from, to);
		if (field->type == FILE_FLAG)
			*(bool *)at(&ret->options, field->given) = true;
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
	/* The first control plane of a file is the primary. */
	for (int primary = 1; primary >= 0; primary--)
		profile_for_each_node(node, profile)
			if (node->primary == primary && node->phase != NODE_LEAVING)
				describe_node(profile, node, &ret->nodes[ret->node_count++],
					      ret_chosen);
	strlist_add(&ret->given, "nodes");
}

/* TEXT as the number, flag or structure that it is written as, or as text. */
static json_t *value_of(const char *text)
{
	json_t *value = json_loads(text, JSON_DECODE_ANY, NULL);
	cleanup_free char *again = value ? json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;

	/* What would be read to another text stays what it is. */
	if (again && strcmp(again, text) == 0 && !json_is_string(value) && !json_is_null(value) &&
	    !json_is_real(value))
		return value;
	json_decref(value);
	return json_string(text);
}

static json_t *pairs_to_json(const struct file_field *field, const struct strlist *words)
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
					  : field->type == FILE_GATES
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

/* URLs that differ by a slash at their end are the same. */
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

/* NULL for what is not set, or as usual. */
static json_t *member_to_json(const struct file_field *field, const void *member)
{
	cleanup_free char *text = NULL;

	if (field->type >= FILE_WORDS && ((const struct strlist *)member)->count == 0)
		return NULL;
	switch (field->type) {
	case FILE_WORDS:
	case FILE_MOUNTS:
		return words_to_json(member);
	case FILE_PAIRS:
	case FILE_GATES:
		return pairs_to_json(field, member);
	case FILE_EXTRA:
		return extra_to_json(member);
	case FILE_MIRRORS:
		return mirrors_to_json(member);
	case FILE_PATCHES:
		return patches_to_json(member);
	default:
		text = file_member_text(field, member);
	}
	if (!text || (field->usual && strcmp(text, field->usual) == 0))
		return NULL;
	return field->type == FILE_FLAG || field->type == FILE_NUMBER ? value_of(text)
								      : json_string(text);
}

static json_t *part_to_json(enum file_place place, const char *in, const void *base);

/* What FIELD, which is at PLACE, has in the struct at BASE; NULL if nothing. */
static json_t *field_to_json(const struct file_field *field, enum file_place place,
			     const void *base)
{
	if (field->type == FILE_MAP)
		return strcmp(field->name, "defaults") == 0
			       ? part_to_json(FILE_OF_DEFAULTS, "", base)
			       : part_to_json(place, field->name, base);
	/* What can be written in two places is written in one. */
	if (!field->has_member || (place == FILE_OF_CLUSTER && field->places & FILE_OF_DEFAULTS))
		return NULL;
	return member_to_json(field,
			      at(base, place == FILE_OF_NODE ? field->node_wanted : field->wanted));
}

static void add_members(json_t *map, enum file_place place, const char *in, const void *base)
{
	const struct file_field *field;

	file_for_each_field(field) {
		json_t *value = file_field_is_in(field, place, in)
					? field_to_json(field, place, base)
					: NULL;

		if (value)
			(void)json_object_set_new(map, file_field_key(field), value);
	}
}

/* The fields that are IN a part of the file; NULL if none has anything. */
static json_t *part_to_json(enum file_place place, const char *in, const void *base)
{
	json_t *map = json_object();

	add_members(map, place, in, base);
	if (json_object_size(map) > 0)
		return map;
	json_decref(map);
	return NULL;
}

static json_t *nodes_to_json(const struct cluster_file *file)
{
	json_t *list = json_array();

	for (size_t i = 0; i < file->node_count; i++) {
		json_t *node = json_pack("{s:s}", "role",
					 file->nodes[i].control_plane ? "control-plane" : "worker");

		add_members(node, FILE_OF_NODE, "", &file->nodes[i]);
		(void)json_array_append_new(list, node);
	}
	return list;
}

json_t *cluster_file_to_json(const struct cluster_file *file)
{
	json_t *root = json_pack("{s:s, s:s, s:s}", "apiVersion", FILE_API_VERSION, "kind",
				 FILE_KIND, "name", file->name);

	add_members(root, FILE_OF_CLUSTER, "", &file->options);
	if (file->node_count > 0)
		(void)json_object_set_new(root, "nodes", nodes_to_json(file));
	return root;
}
