/* The schema of the file that describes a cluster, for editors. */

#include "describe/file-schema.h"

#include <limits.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/strlist.h"
#include "data/words.h"
#include "describe/file-fields.h"
#include "kubeadm/kubeadm-patch.h"
#include "record/spec.h"

/* A word may look like another type in YAML; an empty value is the same as a missing line. */
static json_t *word_schema(void)
{
	return json_pack("{s:[s, s, s, s]}", "type", "string", "number", "boolean", "null");
}

static json_t *map_of(json_t *values)
{
	return json_pack("{s:[s, s], s:o}", "type", "object", "null", "additionalProperties",
			 values);
}

static json_t *list_of(json_t *items)
{
	return json_pack("{s:[s, s], s:o}", "type", "array", "null", "items", items);
}

static json_t *choice_schema(const struct setting *field)
{
	cleanup_with(strlist_release) struct strlist words = STRLIST_INIT;
	strlist_split(&words, field->words, '|');
	return json_pack("{s:o}", "enum", words_to_json(&words));
}

static json_t *number_schema(const struct setting *field)
{
	json_t *schema = json_pack("{s:s, s:i}", "type", "integer", "minimum", (int)field->least);

	if (field->most < INT_MAX)
		(void)json_object_set_new(schema, "maximum", json_integer(field->most));
	if (field->may_be_all)
		return json_pack("{s:[o, {s:[s, s]}]}", "anyOf", schema, "enum", "max", "no-limit");
	return schema;
}

/* Components may also have the names of their programs. */
static json_t *extra_schema(void)
{
	json_t *names = json_array();
	json_t *schema = map_of(map_of(json_object()));

	for (const char *const *name = extra_components; *name; name++) {
		(void)json_array_append_new(names, json_string(*name));
		(void)json_array_append_new(names, json_sprintf("kube-%s", *name));
	}
	(void)json_object_set_new(schema, "propertyNames", json_pack("{s:o}", "enum", names));
	return schema;
}

static json_t *patch_schema(void)
{
	json_t *kinds = json_array();

	for (const char *const *kind = kubeadm_patch_kinds; *kind; kind++)
		(void)json_array_append_new(kinds, json_string(*kind));
	return json_pack("{s:s, s:b, s:[s], s:[{s:[s]}, {s:[s]}], s:{s:{s:o}, s:{s:s}, s:{s:s, "
			 "s:{s:s, s:[s, s]}}}}",
			 "type", "object", "additionalProperties", 0, "required", "kind", "oneOf",
			 "required", "merge", "required", "operations", "properties", "kind",
			 "enum", kinds, "merge", "type", "object", "operations", "type", "array",
			 "items", "type", "object", "required", "op", "path");
}

static json_t *part_schema(enum setting_place place, const char *in);

static json_t *value_schema(const struct setting *field)
{
	switch (field->type) {
	case SETTING_MAP:
		return strcmp(field->name, "defaults") == 0
			       ? part_schema(SETTING_OF_DEFAULTS, "")
			       : part_schema(SETTING_OF_CLUSTER, field->name);
	case SETTING_NODES:
		return list_of(part_schema(SETTING_OF_NODE, ""));
	case SETTING_CHOICE:
		return choice_schema(field);
	case SETTING_FLAG:
		return json_pack("{s:s}", "type", "boolean");
	case SETTING_NUMBER:
		return number_schema(field);
	case SETTING_WORDS:
	case SETTING_PATHS:
		return list_of(word_schema());
	case SETTING_PAIRS:
		return map_of(word_schema());
	case SETTING_GATES:
		return map_of(json_pack("{s:s}", "type", "boolean"));
	case SETTING_EXTRA:
		return extra_schema();
	case SETTING_MIRRORS:
		return map_of(json_pack("{s:[s, s], s:{s:s}}", "type", "string", "array", "items",
					"type", "string"));
	case SETTING_PATCHES:
		return list_of(patch_schema());
	default:
		return word_schema();
	}
}

static json_t *field_schema(const struct setting *field)
{
	json_t *schema = value_schema(field);
	cleanup_free char *summary = file_field_summary(field);

	if (strcmp(field->name, "apiVersion") == 0 || strcmp(field->name, "kind") == 0) {
		json_decref(schema);
		schema = json_pack("{s:s}", "const", field->example);
	}
	(void)json_object_set_new(schema, "description", json_string(summary));
	return schema;
}

/* The fields of the map IN in a part of the file. */
static json_t *part_schema(enum setting_place place, const char *in)
{
	json_t *properties = json_object();
	json_t *schema = json_pack("{s:[s, s], s:b, s:o}", "type", "object", "null",
				   "additionalProperties", 0, "properties", properties);
	const struct setting *field;

	setting_for_each(field)
		if (file_field_is_in(field, place, in))
			(void)json_object_set_new(properties, file_field_key(field),
						  field_schema(field));
	if (place == SETTING_OF_NODE)
		(void)json_object_set_new(schema, "required", json_pack("[s]", "role"));
	return schema;
}

json_t *cluster_file_schema(void)
{
	json_t *schema = json_pack("{s:s, s:s, s:s}", "$schema",
				   "https://json-schema.org/draft/2020-12/schema", "title",
				   "a file for manykube start -f", "description",
				   "A cluster, its nodes and their settings.");
	json_auto_t *part = part_schema(SETTING_OF_CLUSTER, "");

	(void)json_object_update(schema, part);
	(void)json_object_set_new(schema, "type", json_string("object"));
	(void)json_object_set_new(schema, "required", json_pack("[s, s]", "apiVersion", "kind"));
	return schema;
}
