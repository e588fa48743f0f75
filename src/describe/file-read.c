/* Reading the file that describes a cluster, by the table of its fields. */

#include "describe/file-read.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/parse.h"
#include "base/suggest.h"
#include "describe/choices.h"
#include "payload/payload.h"
#include "record/limits.h"
#include "record/options.h"

int file_wrong(struct file_reader *reader, struct yaml_place place, const char *fmt, ...)
{
	cleanup_free char *words = NULL;
	va_list ap;

	va_start(ap, fmt);
	words = xvasprintf(fmt, ap);
	va_end(ap);
	(void)yaml_wrong(reader->err, reader->file->source, place, "%s", words);
	return error_reason(reader->err, -EBADMSG, &reason_cluster_file);
}

int file_wrong_there(struct file_reader *reader, struct yaml_place place, int r, const char *key)
{
	struct error *err = reader->err;

	(void)error_prefix(err, r, "%s:%u:%u: %s", reader->file->source, place.line, place.column,
			   key);
	/* The error is in the file, not on the command line. */
	if (err && err->reason != &reason_version_unsupported)
		err->reason = &reason_cluster_file;
	return -EBADMSG;
}

const char *file_keep(struct file_reader *reader, char *text)
{
	struct strlist *texts = &reader->file->texts;

	strlist_add(texts, text);
	free(text);
	return texts->items[texts->count - 1];
}

struct node_options *file_add_node(struct file_reader *reader, struct yaml_place place)
{
	struct cluster_file *file = reader->file;
	char *origin = xasprintf("%s:%u:%u", file->source, place.line, place.column);

	file->nodes = xrealloc(file->nodes, file->node_count + 1, sizeof(*file->nodes));
	file->nodes[file->node_count] = (struct node_options){
		.origin = file_keep(reader, origin),
	};
	return &file->nodes[file->node_count++];
}

char *file_absolute_path(const struct file_reader *reader, const char *path)
{
	cleanup_free char *whole = NULL;
	char *real;

	if (*path == '/' || !*path || strstr(path, "://"))
		return xstrdup(path);
	while (strncmp(path, "./", 2) == 0)
		path += 2;
	whole = xasprintf("%s/%s", reader->file->dir, path);
	/* A path that does not exist cannot be resolved; that is reported later. */
	real = realpath(whole, NULL);
	return real ? real : take_ptr(whole);
}

static int wrong_type(struct file_reader *reader, const struct setting *field,
		      const struct yaml_value *value)
{
	cleanup_free char *type = file_field_type_words(field);

	if (value->type == YAML_WORD)
		return file_wrong(reader, value->place, "'%s' must be %s, not %s'%s'",
				  file_field_key(field), type, value->quoted ? "the string " : "",
				  value->text);
	return file_wrong(reader, value->place, "'%s' must be %s; this is %s",
			  file_field_key(field), type, yaml_type_words(value));
}

/* Check WORD, which is at VALUE. */
static int check_word(struct file_reader *reader, const struct setting *field,
		      enum setting_place place, const struct yaml_value *value, const char *word)
{
	int r = choices_check_word(field, place, word, reader->err);

	return r < 0 ? file_wrong_there(reader, value->place, r, file_field_key(field)) : 0;
}

static int read_choice(struct file_reader *reader, const struct setting *field,
		       const struct yaml_value *value)
{
	cleanup_with(strlist_release) struct strlist words = STRLIST_INIT;
	struct suggest suggest = SUGGEST_INIT(value->text);
	const char *word;

	strlist_split(&words, field->words, '|');
	if (strlist_has(&words, value->text))
		return 0;
	strlist_for_each(word, &words)
		suggest_offer(&suggest, word);
	if (suggest.nearest)
		return file_wrong(reader, value->place, "unknown %s '%s'; did you mean '%s'?",
				  file_field_key(field), value->text, suggest.nearest);
	return wrong_type(reader, field, value);
}

static int read_word(struct file_reader *reader, const struct setting *field,
		     enum setting_place place, const struct yaml_value *value, const char **ret)
{
	int r = 0;

	if (value->type != YAML_WORD || !*value->text)
		return wrong_type(reader, field, value);
	*ret = value->text;
	if (field->type == SETTING_PATH || (field->is_path && field->is_path(value->text)))
		*ret = file_keep(reader, file_absolute_path(reader, value->text));
	if (field->type == SETTING_CHOICE)
		return read_choice(reader, field, value);
	if (field->type == SETTING_VERSION)
		r = payload_resolve_version(value->text, ret, reader->err);
	if (r < 0)
		return file_wrong_there(reader, value->place, r, file_field_key(field));
	*ret = field->resolve ? field->resolve(*ret) : *ret;
	return !*ret ? 0 : check_word(reader, field, place, value, *ret);
}

static bool read_truth(const struct yaml_value *value, bool *ret)
{
	static const char *const words[] = { "false", "true", "False", "True", "FALSE", "TRUE" };

	for (size_t i = 0; value->type == YAML_WORD && !value->quoted && i < ARRAY_SIZE(words); i++)
		if (strcmp(value->text, words[i]) == 0) {
			*ret = i % 2;
			return true;
		}
	return false;
}

/* For a node, "max" must be explicit, to override the defaults; in the defaults, it is unset. */
static bool read_all(const struct setting *field, enum setting_place place,
		     const struct yaml_value *value, void *to)
{
	if (!field->may_be_all || value->type != YAML_WORD || !parse_is_all(value->text))
		return false;
	if (field->type == SETTING_SIZE)
		*(uint64_t *)to = place == SETTING_OF_NODE ? ALL_MEMORY : 0;
	else
		*(unsigned *)to = place == SETTING_OF_NODE ? ALL_CPUS : 0;
	return true;
}

static int read_number(struct file_reader *reader, const struct setting *field,
		       const struct yaml_value *value, unsigned *ret)
{
	unsigned long long number;

	if (value->type != YAML_WORD || value->quoted ||
	    parse_number(value->text, field->least, field->most, &number, NULL) < 0)
		return wrong_type(reader, field, value);
	*ret = (unsigned)number;
	return 0;
}

static int read_measure(struct file_reader *reader, const struct setting *field,
			const struct yaml_value *value, void *to)
{
	int r;

	if (value->type != YAML_WORD)
		return wrong_type(reader, field, value);
	r = field->type == SETTING_SIZE ? parse_size(value->text, to, reader->err)
					: parse_seconds(value->text, to, reader->err);
	if (r == 0 && field->check_size)
		r = field->check_size(*(uint64_t *)to, reader->err);
	if (r < 0)
		return file_wrong_there(reader, value->place, r, file_field_key(field));
	if (field->type == SETTING_SIZE ? !*(uint64_t *)to : !*(unsigned *)to)
		return file_wrong(reader, value->place, "'%s' has no value", file_field_key(field));
	return 0;
}

/* Check WORD, which is taken over, and add it to LIST. */
static int add_value(struct file_reader *reader, const struct setting *field,
		     enum setting_place place, const struct yaml_value *value, char *word,
		     struct strlist *list)
{
	cleanup_free char *owned = word;
	int r = check_word(reader, field, place, value, owned);

	if (r == 0 && setting_has_word(field, list, owned))
		return file_wrong(reader, value->place, "'%s' has '%s' twice",
				  file_field_key(field), owned);
	if (r == 0)
		strlist_add(list, owned);
	return r;
}

/* "./src:/src:ro" with an absolute first path. */
static char *absolute_mount(const struct file_reader *reader, const char *word)
{
	cleanup_free char *host = xstrndup(word, strcspn(word, ":"));
	cleanup_free char *path = file_absolute_path(reader, host);

	return xasprintf("%s%s", path, word + strlen(host));
}

static int read_words(struct file_reader *reader, const struct setting *field,
		      enum setting_place place, const struct yaml_value *value,
		      struct strlist *list)
{
	const struct yaml_value *item;
	int r = 0;

	if (value->type != YAML_LIST)
		return wrong_type(reader, field, value);
	yaml_for_each(item, value) {
		if (item->type != YAML_WORD || !*item->text)
			return file_wrong(reader, item->place,
					  "'%s' must be a list of strings; it has %s",
					  file_field_key(field), yaml_type_words(item));
		r = add_value(reader, field, place, item,
			      field->type == SETTING_PATHS ? absolute_mount(reader, item->text)
							   : xstrdup(item->text),
			      list);
		if (r < 0)
			return r;
	}
	return 0;
}

/* VALUE as the text after a '=', for the caller to free; structures as JSON. */
static char *text_of(const struct yaml_value *value)
{
	json_auto_t *json = NULL;

	if (value->type == YAML_WORD)
		return xstrdup(value->text);
	json = yaml_to_json(value);
	return json_dumps(json, JSON_COMPACT | JSON_ENCODE_ANY);
}

/* KEY=VALUE for each entry of the mapping VALUE, preceded by PREFIX. */
static int read_pairs(struct file_reader *reader, const struct setting *field,
		      enum setting_place place, const struct yaml_value *value, const char *prefix,
		      struct strlist *list)
{
	const struct yaml_value *item;
	int r = 0;

	if (value->type != YAML_MAP)
		return wrong_type(reader, field, value);
	yaml_for_each(item, value) {
		cleanup_free char *text = text_of(item);
		bool truth;

		if (item->type == YAML_NOTHING && field->type == SETTING_PAIRS &&
		    place == SETTING_OF_NODE && field->change) {
			r = add_value(reader, field, place, item, xasprintf("%s-", item->key),
				      list);
		} else if ((item->type != YAML_WORD && field->type != SETTING_EXTRA) ||
			   item->type == YAML_NOTHING) {
			r = file_wrong(reader, item->place,
				       "'%s' of '%s' must be a string; this is %s", item->key,
				       file_field_key(field), yaml_type_words(item));
		} else if (field->type == SETTING_GATES && !read_truth(item, &truth)) {
			r = file_wrong(reader, item->place,
				       "'%s' of '%s' must be true or false, not '%s'", item->key,
				       file_field_key(field), item->text);
		} else {
			r = add_value(
				reader, field, place, item,
				field->type == SETTING_GATES
					? xasprintf("%s=%s", item->key, truth ? "true" : "false")
					: xasprintf("%s%s=%s", prefix, item->key, text),
				list);
		}
		if (r < 0)
			return r;
	}
	return 0;
}

static int read_extra(struct file_reader *reader, const struct setting *field,
		      enum setting_place place, const struct yaml_value *value,
		      struct strlist *list)
{
	const struct yaml_value *item;
	int r = 0;

	if (value->type != YAML_MAP)
		return wrong_type(reader, field, value);
	yaml_for_each(item, value) {
		cleanup_free char *prefix = xasprintf("%s.", item->key);

		if (r == 0 && item->type != YAML_NOTHING)
			r = read_pairs(reader, field, place, item, prefix, list);
	}
	return r;
}

static int read_mirrors(struct file_reader *reader, const struct setting *field,
			const struct yaml_value *value, struct strlist *list)
{
	const struct yaml_value *item;
	int r = 0;

	if (value->type != YAML_MAP)
		return wrong_type(reader, field, value);
	yaml_for_each(item, value) {
		const struct yaml_value *urls = item->type == YAML_LIST ? item->items : item;
		size_t count = item->type == YAML_LIST ? item->count : 1;

		for (size_t i = 0; r == 0 && i < count; i++)
			r = urls[i].type == YAML_WORD
				    ? add_value(reader, field, SETTING_OF_CLUSTER, &urls[i],
						xasprintf("%s=%s", item->key, urls[i].text), list)
				    : wrong_type(reader, field, &urls[i]);
	}
	return r;
}

static int read_patches(struct file_reader *reader, const struct setting *field,
			enum setting_place place, const struct yaml_value *value,
			struct strlist *list)
{
	const struct yaml_value *item;
	int r = 0;

	if (value->type != YAML_LIST)
		return wrong_type(reader, field, value);
	yaml_for_each(item, value) {
		json_auto_t *json = yaml_to_json(item);

		if (r == 0)
			r = add_value(reader, field, place, item,
				      json_dumps(json, JSON_COMPACT | JSON_ENCODE_ANY), list);
	}
	return r;
}

static int read_map(struct file_reader *reader, const struct yaml_value *map,
		    enum setting_place place, const char *in, struct node_options *node);
static int read_nodes(struct file_reader *reader, const struct yaml_value *list);

/* Read VALUE into the member of FIELD in NODE or, without one, in the file's options. */
static int read_member(struct file_reader *reader, const struct setting *field,
		       enum setting_place place, const struct yaml_value *value,
		       struct node_options *node)
{
	struct cluster_options *options = &reader->file->options;
	void *to = node ? setting_in_node(field, &node->settings)
			: setting_in_cluster(field, &options->settings);

	if (read_all(field, place, value, to))
		return 0;
	switch (field->type) {
	case SETTING_WORD:
	case SETTING_PATH:
	case SETTING_VERSION:
	case SETTING_CHOICE:
		return read_word(reader, field, place, value, to);
	case SETTING_FLAG:
		*setting_in_flags(field, &options->given) = true;
		return read_truth(value, to) ? 0 : wrong_type(reader, field, value);
	case SETTING_NUMBER:
		return read_number(reader, field, value, to);
	case SETTING_SIZE:
	case SETTING_SECONDS:
		return read_measure(reader, field, value, to);
	case SETTING_WORDS:
	case SETTING_PATHS:
		return read_words(reader, field, place, value, to);
	case SETTING_PAIRS:
	case SETTING_GATES:
		return read_pairs(reader, field, place, value, "", to);
	case SETTING_EXTRA:
		return read_extra(reader, field, place, value, to);
	case SETTING_MIRRORS:
		return read_mirrors(reader, field, value, to);
	case SETTING_PATCHES:
		return read_patches(reader, field, place, value, to);
	case SETTING_MAP:
	case SETTING_NODES:
		break;
	}
	return 0;
}

/* Read a field without a member. */
static int read_special(struct file_reader *reader, const struct setting *field,
			const struct yaml_value *value)
{
	if (field->type == SETTING_MAP) {
		bool is_defaults = strcmp(field->name, "defaults") == 0;

		if (value->type != YAML_MAP)
			return wrong_type(reader, field, value);
		return read_map(reader, value,
				is_defaults ? SETTING_OF_DEFAULTS : SETTING_OF_CLUSTER,
				is_defaults ? "" : field->name, NULL);
	}
	if (field->type == SETTING_NODES)
		return read_nodes(reader, value);
	/* The name was read before; only its type is checked here. */
	if (strcmp(field->name, "name") == 0 && value->type != YAML_WORD)
		return wrong_type(reader, field, value);
	return 0;
}

static const struct setting *find_field(enum setting_place place, const char *in, const char *key)
{
	const struct setting *field;

	setting_for_each(field)
		if (file_field_is_in(field, place, in) && strcmp(file_field_key(field), key) == 0)
			return field;
	return NULL;
}

/* The path of another field with KEY, for the caller to free; NULL if there is none. */
static char *find_elsewhere(const char *key)
{
	const struct setting *field;

	setting_for_each(field)
		if (strcmp(file_field_key(field), key) == 0)
			return file_field_path(
				field, field->places & SETTING_OF_CLUSTER    ? SETTING_OF_CLUSTER
				       : field->places & SETTING_OF_DEFAULTS ? SETTING_OF_DEFAULTS
									     : SETTING_OF_NODE);
	return NULL;
}

static int unknown_field(struct file_reader *reader, const struct yaml_value *item,
			 enum setting_place place, const char *in)
{
	struct suggest suggest = SUGGEST_INIT(item->key);
	cleanup_free char *elsewhere = find_elsewhere(item->key);
	const struct setting *field;
	const char *meant;

	setting_for_each(field)
		if (file_field_is_in(field, place, in))
			suggest_offer(&suggest, file_field_key(field));
	meant = elsewhere ? elsewhere : suggest.nearest;
	return file_wrong(reader, item->key_place, "unknown field '%s'%s%s%s", item->key,
			  meant ? "; did you mean '" : "", meant ? meant : "", meant ? "'?" : "");
}

/* Read the map IN of the file, of the defaults or of NODE. */
static int read_map(struct file_reader *reader, const struct yaml_value *map,
		    enum setting_place place, const char *in, struct node_options *node)
{
	const struct yaml_value *item;
	int r;

	yaml_for_each(item, map) {
		const struct setting *field = find_field(place, in, item->key);

		if (!field)
			return unknown_field(reader, item, place, in);
		/* An empty value is the same as a missing line. */
		if (item->type == YAML_NOTHING)
			continue;
		if (field->has_member)
			r = read_member(reader, field, place, item, node);
		else
			r = node ? 0 : read_special(reader, field, item);
		if (r < 0)
			return r;
		if (!node && field->option && !strlist_has(&reader->file->given, field->option))
			strlist_add(&reader->file->given, field->option);
	}
	return 0;
}

static int read_no_schedule(struct file_reader *reader, const struct yaml_value *item, bool *ret)
{
	const struct yaml_value *value = yaml_get(item, "noSchedule");

	if (!value || value->type == YAML_NOTHING || read_truth(value, ret))
		return 0;
	return wrong_type(reader, find_field(SETTING_OF_NODE, "", "noSchedule"), value);
}

/* Read the role and the number of the nodes that ITEM describes. */
static int read_role(struct file_reader *reader, const struct yaml_value *item,
		     bool *ret_control_plane, unsigned *ret_count)
{
	const struct setting *role_field = find_field(SETTING_OF_NODE, "", "role");
	const struct yaml_value *role = yaml_get(item, "role");
	const struct yaml_value *count = yaml_get(item, "count");
	const struct yaml_value *single = yaml_get(item, "name");
	const char *word;
	int r;

	if (!role)
		return file_wrong(reader, item->place,
				  "the node has no 'role': control-plane or worker");
	r = read_word(reader, role_field, SETTING_OF_NODE, role, &word);
	if (r < 0)
		return r;
	*ret_control_plane = strcmp(word, "control-plane") == 0;
	*ret_count = 1;
	if (count)
		r = read_number(reader, find_field(SETTING_OF_NODE, "", "count"), count, ret_count);
	if (!single)
		single = yaml_get(item, "staticIP");
	if (r == 0 && *ret_count > 1 && single)
		return file_wrong(reader, single->key_place, "'%s' is for one node, not for %u",
				  single->key, *ret_count);
	return r;
}

/* Read ITEM, which describes one or more equal nodes. */
static int read_node(struct file_reader *reader, const struct yaml_value *item)
{
	bool control_plane = false;
	bool no_schedule = false;
	unsigned count = 1;
	int r;

	if (item->type != YAML_MAP)
		return file_wrong(
			reader, item->place,
			"a node must be a mapping, for instance 'role: worker'; this is %s",
			yaml_type_words(item));
	r = read_role(reader, item, &control_plane, &count);
	if (r == 0)
		r = read_no_schedule(reader, item, &no_schedule);
	if (r == 0 && reader->file->node_count + count > NODES_MOST)
		return file_wrong(reader, item->place, "a cluster has at most %d nodes",
				  NODES_MOST);
	for (unsigned i = 0; r == 0 && i < count; i++) {
		struct node_options *node = file_add_node(reader, item->place);

		node->control_plane = control_plane;
		node->no_schedule = no_schedule;
		r = read_map(reader, item, SETTING_OF_NODE, "", node);
	}
	return r;
}

/* Check that no two nodes in LIST have the same KEY. */
static int check_differ(struct file_reader *reader, const struct yaml_value *list, const char *key,
			const char *words)
{
	for (size_t i = 0; i < list->count; i++)
		for (size_t j = 0; j < i; j++) {
			const struct yaml_value *one = yaml_get(&list->items[j], key);
			const struct yaml_value *other = yaml_get(&list->items[i], key);

			if (one && other && strcmp(one->text, other->text) == 0)
				return file_wrong(reader, other->place,
						  "two nodes %s '%s'; the first is on line %u",
						  words, one->text, one->place.line);
		}
	return 0;
}

static int read_nodes(struct file_reader *reader, const struct yaml_value *list)
{
	const struct cluster_file *file = reader->file;
	const struct yaml_value *item;
	bool has_control_plane = false;
	int r = 0;

	if (list->type != YAML_LIST)
		return wrong_type(reader, find_field(SETTING_OF_CLUSTER, "", "nodes"), list);
	yaml_for_each(item, list) {
		r = read_node(reader, item);
		if (r < 0)
			return r;
	}
	r = check_differ(reader, list, "name", "have the name");
	if (r == 0)
		r = check_differ(reader, list, "staticIP", "have the address");
	for (size_t i = 0; i < file->node_count; i++)
		has_control_plane = has_control_plane || file->nodes[i].control_plane;
	if (r == 0 && !has_control_plane)
		return file_wrong(reader, list->key_place,
				  "no node is a control plane; one needs 'role: control-plane'");
	return r;
}

int file_read_own(struct file_reader *reader, const struct yaml_value *root)
{
	return read_map(reader, root, SETTING_OF_CLUSTER, "", NULL);
}
