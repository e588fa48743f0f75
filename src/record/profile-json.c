/*
 * The profile as JSON text.  The table of settings, and one table each for the other fields of the
 * cluster and of nodes, drive both the parser and the printer.
 *
 * A NULL string is not written, and a missing one is read as NULL; only names are required.  Keys
 * that are not in the tables are ignored.  A key that older programs must not ignore requires a
 * higher PROFILE_FORMAT.
 *
 * Format 1 is the current one.  Format 2 is the same with IPv6: programs that do not know it would
 * lose the addresses of nodes.  A cluster without IPv6 is written in format 1.
 *
 * In format 0, nodes were no objects: 'format' is 0 or missing, and so is 'nodes'.  The fields of
 * the only node are in the cluster's object: "address" and "podCidr", which are required like the
 * networks, "nodeName" (default: node-1), "driver" (default: the default driver), and "joined",
 * true or false (or "phase", as in format 1).  "cpus", "labels" and the like are settings of both
 * the cluster and the node.  Such a record is read as a cluster with one primary control plane, and
 * written in format 1: see profile_save().
 */

#include <jansson.h>
#include <limits.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/parse.h"
#include "data/json-text.h"
#include "data/words.h"
#include "driver/driver.h"
#include "record/profile.h"

enum field_type {
	FIELD_STRING,
	FIELD_FLAG,
	FIELD_UNSIGNED,
	FIELD_UINT64,
	FIELD_INT64,
	FIELD_PHASE,
	FIELD_LIST, /* struct strlist; an empty list is not written */
};

struct field {
	const char *key;
	enum field_type type;
	size_t offset;
};

/* clang-format off */
#define AT(member) offsetof(struct profile, member)
static const struct field profile_fields[] = {
	{ "name",              FIELD_STRING,   AT(name) },
	{ "gateway",           FIELD_STRING,   AT(gateway) },
	{ "ipv6Prefix",        FIELD_STRING,   AT(ipv6_prefix) },
	{ "bridge",            FIELD_STRING,   AT(bridge) },
	{ "orphans",           FIELD_LIST,     AT(orphans) },
	{ "lostMembers",       FIELD_LIST,     AT(lost_members) },
	{ "recovering",        FIELD_STRING,   AT(recovering) },
	{ "deleting",          FIELD_FLAG,     AT(deleting) },
	{ "upgradingFrom",     FIELD_STRING,   AT(upgrading_from) },
	{ "networkFrom",       FIELD_STRING,   AT(network_from) },
	{ "networkDue",        FIELD_LIST,     AT(network_due) },
	{ "failures",          FIELD_LIST,     AT(failures) },
	{ "drained",           FIELD_LIST,     AT(drained) },
	{ "asked",             FIELD_LIST,     AT(asked) },
	{ "created",           FIELD_INT64,    AT(created) },
};
#undef AT

#define AT(member) offsetof(struct node, member)
static const struct field node_fields[] = {
	{ "controlPlane",      FIELD_FLAG,     AT(control_plane) },
	{ "worker",            FIELD_FLAG,     AT(worker) },
	{ "primary",           FIELD_FLAG,     AT(primary) },
	{ "phase",             FIELD_PHASE,    AT(phase) },
	{ "askedAddress",      FIELD_FLAG,     AT(asked_address) },
	{ "podCidr",           FIELD_STRING,   AT(pod_cidr) },
	{ "address6",          FIELD_STRING,   AT(address6) },
	{ "podCidr6",          FIELD_STRING,   AT(pod_cidr6) },
	{ "docker",            FIELD_FLAG,     AT(docker) },
	{ "outdated",          FIELD_FLAG,     AT(outdated) },
};
#undef AT
/* clang-format on */

/* The field of SETTING in the record of a cluster or, with OF_NODE, of a node; false if it has
 * none. */
static bool setting_field(const struct setting *setting, bool of_node, struct field *ret)
{
	static const enum field_type types[] = {
		[SETTING_FLAG] = FIELD_FLAG,
		[SETTING_NUMBER] = FIELD_UNSIGNED,
		[SETTING_SECONDS] = FIELD_UNSIGNED,
		[SETTING_SIZE] = FIELD_UINT64,
	};

	if (of_node ? !setting_is_of_node(setting) : !setting_is_of_cluster(setting))
		return false;
	*ret = (struct field){ setting->key,
			       setting_is_list(setting) ? FIELD_LIST : types[setting->type],
			       of_node ? setting->node : setting->cluster };
	return true;
}

static int bad_field(struct error *err, const struct field *field, const char *wanted)
{
	return error_set(err, -EBADMSG, "'%s' is not %s", field->key, wanted);
}

static int read_number(const struct field *field, const json_t *value, void *to, struct error *err)
{
	json_int_t number;

	if (!json_is_integer(value))
		return bad_field(err, field, "a whole number");
	number = json_integer_value(value);
	if (field->type == FIELD_INT64) {
		*(int64_t *)to = number;
		return 0;
	}
	if (number < 0 || (field->type == FIELD_UNSIGNED && number > UINT_MAX))
		return bad_field(err, field, "in the range of its type");
	if (field->type == FIELD_UNSIGNED)
		*(unsigned *)to = (unsigned)number;
	else
		*(uint64_t *)to = (uint64_t)number;
	return 0;
}

static int read_list(const struct field *field, const json_t *value, struct strlist *to,
		     struct error *err)
{
	json_t *item;
	size_t i;

	if (!json_is_array(value))
		return bad_field(err, field, "a list");
	json_array_foreach(value, i, item) {
		if (!json_is_string(item))
			return bad_field(err, field, "a list of strings");
		strlist_add(to, json_string_value(item));
	}
	return 0;
}

static int read_field(const struct field *field, const json_t *value, void *to, struct error *err)
{
	switch (field->type) {
	case FIELD_STRING:
		if (!json_is_string(value))
			return bad_field(err, field, "a string");
		*(char **)to = xstrdup(json_string_value(value));
		return 0;
	case FIELD_FLAG:
		if (!json_is_boolean(value))
			return bad_field(err, field, "true or false");
		*(bool *)to = json_is_true(value);
		return 0;
	case FIELD_PHASE:
		if (!json_is_string(value))
			return bad_field(err, field, "a string");
		if (node_phase_parse(json_string_value(value), to, err) < 0)
			return error_prefix(err, -EBADMSG, "'%s'", field->key);
		return 0;
	case FIELD_LIST:
		return read_list(field, value, to, err);
	default:
		return read_number(field, value, to, err);
	}
}

/* Fill the fields of the struct at BASE from OBJECT. */
static int read_fields(const struct field *fields, size_t count, const json_t *object, void *base,
		       struct error *err)
{
	int r;

	for (size_t i = 0; i < count; i++) {
		const json_t *value = json_object_get(object, fields[i].key);

		if (!value || json_is_null(value))
			continue;
		r = read_field(&fields[i], value, (char *)base + fields[i].offset, err);
		if (r < 0)
			return r;
	}
	return 0;
}

/* The same for the settings at BASE. */
static int read_settings(bool of_node, const json_t *object, void *base, struct error *err)
{
	const struct setting *setting;
	struct field field;
	int r = 0;

	setting_for_each(setting)
		if (r == 0 && setting_field(setting, of_node, &field))
			r = read_fields(&field, 1, object, base, err);
	return r;
}

static int read_node(const json_t *value, struct profile *profile, struct error *err)
{
	const char *name = json_string_value(json_object_get(value, "name"));
	struct node *node;
	int r;

	/* The name becomes part of paths, so it must be a DNS label. */
	if (!name || !parse_is_dns_label(name))
		return error_set(err, -EBADMSG, "its 'name' is missing or not valid");
	if (profile_find_node(profile, name))
		return error_set(err, -EBADMSG, "the name '%s' is used twice", name);

	node = profile_add_node(profile, name);
	settings_release_node(&node->settings);
	r = read_settings(true, value, &node->settings, err);
	return r < 0 ? r : read_fields(node_fields, ARRAY_SIZE(node_fields), value, node, err);
}

static int read_nodes(const json_t *list, struct profile *profile, struct error *err)
{
	json_t *value;
	size_t i;
	int r;

	if (!list)
		return 0;
	if (!json_is_array(list))
		return error_set(err, -EBADMSG, "'nodes' is not a list");
	json_array_foreach(list, i, value) {
		r = read_node(value, profile, err);
		if (r < 0)
			return error_prefix(err, r, "nodes[%zu]", i);
	}
	return 0;
}

static int read_format(const json_t *root, json_int_t *ret_format, struct error *err)
{
	const json_t *format = json_object_get(root, "format");

	if (!json_is_object(root))
		return error_set(err, -EBADMSG, "this is not a JSON object");
	if (!format && json_object_get(root, "nodes"))
		return error_set(err, -EBADMSG,
				 "it has no 'format', so it was not written by manykube");
	if (format && (!json_is_integer(format) || json_integer_value(format) < 0))
		return error_set(err, -EBADMSG, "'format' is not a whole number of at least 0");
	if (json_integer_value(format) > PROFILE_FORMAT)
		return error_because(err, &reason_host_config, -ENOTSUP,
				     "its format is %" JSON_INTEGER_FORMAT
				     ", but this manykube (v" MANYKUBE_VERSION
				     ") supports formats up to %d",
				     json_integer_value(format), PROFILE_FORMAT);
	*ret_format = json_integer_value(format);
	return 0;
}

/* Check that ROOT has all fields that format 0 requires. */
static int check_single_node(const json_t *root, struct error *err)
{
	static const char *const needed[] = {
		"kubernetesVersion", "subnet",  "gateway", "bridge",
		"podSubnet",         "address", "podCidr",
	};
	const json_t *name = json_object_get(root, "nodeName");
	const json_t *joined = json_object_get(root, "joined");

	if (json_object_get(root, "nodes"))
		return error_set(err, -EBADMSG, "'format' is 0, but it has 'nodes'");
	for (size_t i = 0; i < ARRAY_SIZE(needed); i++)
		if (!json_is_string(json_object_get(root, needed[i])))
			return error_set(err, -EBADMSG, "'format' is %s, and '%s' is not a string",
					 json_object_get(root, "format") ? "0" : "missing",
					 needed[i]);
	if (!json_is_integer(json_object_get(root, "apiPort")))
		return error_set(err, -EBADMSG, "'apiPort' is not a whole number");
	if (name && !json_is_string(name))
		return error_set(err, -EBADMSG, "'nodeName' is not a string");
	if (joined && !json_is_boolean(joined))
		return error_set(err, -EBADMSG, "'joined' is not true or false");
	return 0;
}

/* Convert ROOT from format 0 to format 1: the node becomes an object of its own. */
static int migrate_single_node(json_t *root, struct error *err)
{
	const char *const usual[][2] = {
		{ "nodeName", "node-1" },
		{ "driver", node_driver_default()->name },
		{ "cni", "auto" },
		{ "serviceSubnet", "10.96.0.0/12" },
		{ "dnsDomain", "cluster.local" },
	};
	json_t *node;
	int r = check_single_node(root, err);

	if (r < 0)
		return r;
	for (size_t i = 0; i < ARRAY_SIZE(usual); i++) {
		const json_t *value = json_object_get(root, usual[i][0]);

		if (!value || json_is_null(value))
			json_object_set_new(root, usual[i][0], json_string(usual[i][1]));
	}
	node = json_copy(root);
	json_object_set(node, "name", json_object_get(root, "nodeName"));
	json_object_set_new(node, "controlPlane", json_true());
	json_object_set_new(node, "worker", json_true());
	json_object_set_new(node, "primary", json_true());
	if (json_is_true(json_object_get(root, "joined")) && !json_object_get(root, "phase"))
		json_object_set_new(node, "phase", json_string(node_phase_word(NODE_JOINED)));
	json_object_set_new(root, "nodes", json_pack("[o]", node));
	return 0;
}

int profile_parse(const char *text, size_t len, struct profile *ret, struct error *err)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	json_auto_t *root = NULL;
	json_int_t format = 0;
	int r;

	r = json_text_parse(text, len, &root, err);
	if (r == 0)
		r = read_format(root, &format, err);
	if (r == 0 && format == 0)
		r = migrate_single_node(root, err);
	if (r < 0)
		return r;
	profile.single_node_format = format == 0;
	r = read_fields(profile_fields, ARRAY_SIZE(profile_fields), root, &profile, err);
	if (r == 0)
		r = read_settings(false, root, &profile.settings, err);
	if (r < 0)
		return r;
	if (!profile.name || profile_check_name(profile.name, NULL) < 0)
		return error_set(err, -EBADMSG,
				 "'name' is missing or not a valid name of a cluster");
	r = read_nodes(json_object_get(root, "nodes"), &profile, err);
	if (r < 0)
		return r;
	if (!profile.cni)
		profile.cni = xstrdup("auto");

	*ret = profile;
	profile = PROFILE_INIT;
	return 0;
}

static json_t *print_list(const struct strlist *list)
{
	return list->count > 0 ? words_to_json(list) : NULL;
}

static json_t *print_field(const struct field *field, const void *from)
{
	switch (field->type) {
	case FIELD_STRING:
		return *(char *const *)from ? json_string(*(char *const *)from) : NULL;
	case FIELD_FLAG:
		return json_boolean(*(const bool *)from);
	case FIELD_PHASE:
		return json_string(node_phase_word(*(const enum node_phase *)from));
	case FIELD_UNSIGNED:
		return json_integer(*(const unsigned *)from);
	case FIELD_UINT64:
		return json_integer((json_int_t) * (const uint64_t *)from);
	case FIELD_INT64:
		return json_integer(*(const int64_t *)from);
	case FIELD_LIST:
		return print_list(from);
	}
	return NULL;
}

static void print_fields(const struct field *fields, size_t count, json_t *object, const void *base)
{
	for (size_t i = 0; i < count; i++) {
		json_t *value = print_field(&fields[i], (const char *)base + fields[i].offset);

		if (value)
			json_object_set_new(object, fields[i].key, value);
	}
}

static void print_settings(bool of_node, json_t *object, const void *base)
{
	const struct setting *setting;
	struct field field;

	setting_for_each(setting)
		if (setting_field(setting, of_node, &field))
			print_fields(&field, 1, object, base);
}

char *profile_print(const struct profile *profile)
{
	json_auto_t *root = json_object();
	json_t *nodes = json_array();
	const struct node *node;
	char *text;

	json_object_set_new(root, "format", json_integer(profile->ipv6_prefix ? 2 : 1));
	print_fields(profile_fields, ARRAY_SIZE(profile_fields), root, profile);
	print_settings(false, root, &profile->settings);
	profile_for_each_node(node, profile) {
		json_t *object = json_object();

		print_settings(true, object, &node->settings);
		print_fields(node_fields, ARRAY_SIZE(node_fields), object, node);
		json_array_append_new(nodes, object);
	}
	json_object_set_new(root, "nodes", nodes);

	text = json_dumps(root, JSON_INDENT(2));
	if (!text)
		abort();
	return text;
}
