/* Clusters of minikube: config.json as a whole, and its nodes. */

#include "describe/import.h"

#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/parse.h"
#include "data/json-text.h"
#include "describe/import-fields.h"
#include "record/limits.h"
#include "record/options.h"
#include "record/skew.h"
#include "record/spec.h"
#include "record/world.h"

/* A node as described in config.json. */
struct source {
	const char *name;
	const char *address;
	const char *version;
	const char *runtime;
	bool control_plane;
	bool worker;
};

static int read_text(const json_t *object, const char *key, const char **ret, struct error *err)
{
	const json_t *value = json_object_get(object, key);

	if (value && !json_is_null(value) && !json_is_string(value))
		return error_set(err, -EBADMSG, "'%s' is not a string", key);
	*ret = value ? json_string_value(value) : NULL;
	return 0;
}

static int read_flag(const json_t *object, const char *key, bool *ret, struct error *err)
{
	const json_t *value = json_object_get(object, key);

	if (value && !json_is_boolean(value))
		return error_set(err, -EBADMSG, "'%s' is not true or false", key);
	*ret = json_is_true(value);
	return 0;
}

static int read_source(const json_t *object, struct source *ret, struct error *err)
{
	int r;

	if (!json_is_object(object))
		return error_set(err, -EBADMSG, "it is not an object");
	r = read_text(object, "Name", &ret->name, err);
	if (r == 0)
		r = read_text(object, "IP", &ret->address, err);
	if (r == 0)
		r = read_text(object, "KubernetesVersion", &ret->version, err);
	if (r == 0)
		r = read_text(object, "ContainerRuntime", &ret->runtime, err);
	if (r == 0)
		r = read_flag(object, "ControlPlane", &ret->control_plane, err);
	if (r == 0)
		r = read_flag(object, "Worker", &ret->worker, err);
	return r;
}

static bool has_node(const struct import *import, const char *name)
{
	for (size_t i = 0; i < import->node_count; i++)
		if (import->nodes[i].name && strcmp(import->nodes[i].name, name) == 0)
			return true;
	return false;
}

static int add_node(struct import *import, const struct source *source, struct error *err)
{
	const char *all = import->kubernetes_version;
	bool same = source->version && all && strcmp(source->version, all) == 0;
	bool named = source->name && parse_is_dns_label(source->name);

	if (named && has_node(import, source->name))
		return error_set(err, -EBADMSG, "there are two nodes called '%s'", source->name);
	import->nodes = xrealloc(import->nodes, import->node_count + 1, sizeof(*import->nodes));
	import->nodes[import->node_count++] = (struct import_node){
		.name = named ? xstrdup(source->name) : NULL,
		.address = source->address && *source->address ? source->address : NULL,
		.version = same || !source->version || !*source->version ? NULL : source->version,
		.control_plane = source->control_plane,
		.worker = source->worker || !source->control_plane,
	};
	return 0;
}

/* Give nodes without a valid name the first free node-N. */
static void name_nodes(struct import *import)
{
	unsigned n = 1;

	for (size_t i = 0; i < import->node_count; i++)
		while (!import->nodes[i].name) {
			cleanup_free char *name = xasprintf("node-%u", n++);

			if (!has_node(import, name))
				import->nodes[i].name = take_ptr(name);
		}
}

static bool differs(const char *one, const char *other)
{
	return one && *one && other && strcmp(one, other) != 0;
}

/* Report what NODE had in minikube and cannot have here. */
static void compare_node(struct import *import, const struct import_node *node,
			 const struct source *source, const char *runtime)
{
	bool primary = node == import->nodes;
	json_auto_t *name = json_string(source->name ? source->name : "");
	cleanup_free char *shown_name = import_show(name);

	if (!(source->name && strcmp(source->name, node->name) == 0) &&
	    !(primary && (!source->name || !*source->name)))
		strlist_addf(&import->warnings, "node %s is renamed to '%s'", shown_name,
			     node->name);
	if (source->control_plane && !node->control_plane)
		strlist_addf(&import->warnings,
			     "node '%s' was a control plane and becomes a worker: at most %d "
			     "control planes are supported",
			     node->name, CONTROL_PLANES_MOST);
	if (primary && node->worker && !source->worker)
		strlist_addf(&import->warnings,
			     "node '%s' was only a control plane; it also runs pods, because no "
			     "other node does",
			     node->name);
	if (differs(source->runtime, runtime) && differs(source->runtime, "containerd"))
		strlist_addf(&import->warnings,
			     "node '%s' had its own container runtime; all nodes run containerd "
			     "here",
			     node->name);
}

/* Fix what is not possible: too many control planes, and no node for pods. */
static void limit_roles(struct import *import)
{
	unsigned control_planes = 0;
	unsigned workers = 0;

	for (size_t i = 0; i < import->node_count; i++) {
		struct import_node *node = &import->nodes[i];

		if (node->control_plane && ++control_planes > CONTROL_PLANES_MOST) {
			node->control_plane = false;
			node->worker = true;
		}
		workers += node->worker;
	}
	if (workers == 0)
		import->nodes[0].worker = true;
}

static int add_sources(struct import *import, const struct source *sources, size_t count,
		       struct error *err)
{
	const json_t *kubernetes = json_object_get(import->root, "KubernetesConfig");
	const char *runtime = json_string_value(json_object_get(kubernetes, "ContainerRuntime"));
	size_t primary = 0;
	int r;

	while (primary < count && !sources[primary].control_plane)
		primary++;
	if (primary == count)
		return error_set(err, -EBADMSG, "no node of 'Nodes' is a control plane");
	r = add_node(import, &sources[primary], err);
	for (size_t i = 0; r == 0 && i < count; i++)
		if (i != primary)
			r = add_node(import, &sources[i], err);
	if (r < 0)
		return r;
	name_nodes(import);
	limit_roles(import);
	compare_node(import, import->nodes, &sources[primary], runtime);
	for (size_t i = 0; i < count; i++)
		if (i != primary)
			compare_node(import, &import->nodes[i < primary ? i + 1 : i], &sources[i],
				     runtime);
	return 0;
}

/* Before minikube had nodes, the fields of the only one were among those of Kubernetes. */
static int add_single_node(struct import *import, struct error *err)
{
	const json_t *kubernetes = json_object_get(import->root, "KubernetesConfig");
	struct source source = { .control_plane = true, .worker = true };
	int r = read_text(kubernetes, "NodeName", &source.name, err);

	if (r == 0)
		r = read_text(kubernetes, "NodeIP", &source.address, err);
	/* The name was chosen by minikube, and may be that of the cluster. */
	if (r == 0 && source.name && !parse_is_dns_label(source.name))
		source.name = NULL;
	return r < 0 ? r : add_sources(import, &source, 1, err);
}

static int read_nodes(struct import *import, struct error *err)
{
	const json_t *list = json_object_get(import->root, "Nodes");
	size_t count = json_array_size(list);
	cleanup_free struct source *sources = NULL;

	if (list && !json_is_null(list) && !json_is_array(list))
		return error_set(err, -EBADMSG, "'Nodes' is not a list");
	if (count == 0)
		return add_single_node(import, err);
	sources = xcalloc(count, sizeof(*sources));
	for (size_t i = 0; i < count; i++) {
		int r = read_source(json_array_get(list, i), &sources[i], err);

		if (r < 0)
			return error_prefix(err, r, "Nodes[%zu]", i);
		import_leave_node_fields(import, json_array_get(list, i));
	}
	return add_sources(import, sources, count, err);
}

static bool text_has_control(const char *text)
{
	const unsigned char *at = (const unsigned char *)text;

	for (; *at; at++)
		if (*at < ' ' || *at == 0x7f || (*at == 0xc2 && at[1] >= 0x80 && at[1] < 0xa0))
			return true;
	return false;
}

/* Whether VALUE contains a string with control characters: they are valid in none of its fields,
 * but could do harm to a terminal. */
static bool has_control(const json_t *value)
{
	const char *key;
	json_t *item;
	size_t i;

	if (json_is_string(value))
		return text_has_control(json_string_value(value));
	json_array_foreach(value, i, item)
		if (has_control(item))
			return true;
	json_object_foreach((json_t *)(uintptr_t)value, key, item)
		if (text_has_control(key) || has_control(item))
			return true;
	return false;
}

static int read_all(struct import *import, struct error *err)
{
	int r;

	if (!json_is_object(import->root) ||
	    !json_is_object(json_object_get(import->root, "KubernetesConfig")))
		return error_set(err, -EBADMSG,
				 "not a config.json of minikube: it has no object "
				 "'KubernetesConfig'");
	if (has_control(import->root))
		return error_set(err, -EBADMSG, "it contains control characters");
	import->name = json_string_value(json_object_get(import->root, "Name"));
	if (!import->name)
		return error_set(err, -EBADMSG, "'Name' is not a string");
	r = import_take_fields(import, err);
	return r < 0 ? r : read_nodes(import, err);
}

int import_parse(const char *text, size_t len, struct import *ret, struct error *err)
{
	cleanup_with(import_release) struct import import = IMPORT_INIT;
	int r = json_text_parse(text, len, &import.root, err);

	if (r == 0)
		r = read_all(&import, err);
	if (r < 0)
		return error_reason(err, r, &reason_host_config);
	*ret = import;
	import = IMPORT_INIT;
	return 0;
}

/* The supported patch release of the minor version of TEXT: v1.36.3 for v1.36.1. */
static int resolve_minor(const char *text, const char **ret_version)
{
	const char *dot = strchr(text, '.');
	const char *end = dot ? strchr(dot + 1, '.') : NULL;
	cleanup_free char *minor = end ? xstrndup(text, (size_t)(end - text)) : NULL;

	return minor ? payload_resolve_version(minor, ret_version, NULL) : -EINVAL;
}

/* The version for HAD; 1 if it is another patch release, -EINVAL if there is none. */
static int resolve(const char *had, const char **ret_version)
{
	if (payload_resolve_version(had, ret_version, NULL) == 0)
		return 0;
	return resolve_minor(had, ret_version) == 0 ? 1 : -EINVAL;
}

static int choose_cluster_version(struct import *import, const char *wanted, struct error *err)
{
	const char **version = &import->options.kubernetes_version;
	const char *had = import->kubernetes_version;
	int r;

	if (wanted)
		return payload_resolve_version(wanted, version, err);
	if (!had) {
		*version = payload_versions()[0];
		strlist_addf(&import->warnings, "no Kubernetes version given; it will be %s",
			     *version);
		return 0;
	}
	r = resolve(had, version);
	if (r < 0) {
		r = payload_resolve_version(had, version, err);
		return error_hint(err, r, "choose one with --kubernetes-version");
	}
	if (r > 0) {
		json_auto_t *value = json_string(had);
		cleanup_free char *shown = import_show(value);

		strlist_addf(&import->warnings, "Kubernetes will be %s instead of %s", *version,
			     shown);
	}
	return 0;
}

/* A node keeps its own version if possible. */
static void choose_node_version(struct import *import, struct import_node *node)
{
	const char *cluster = import->options.kubernetes_version;
	json_auto_t *had = json_string(node->version);
	cleanup_free char *shown = import_show(had);
	const char *version;
	int r = resolve(node->version, &version);

	if (r < 0 || skew_check(cluster, version, node->control_plane, NULL) < 0)
		version = NULL;
	if (r != 0 || !version)
		strlist_addf(&import->warnings, "node '%s' had Kubernetes %s; here it has %s",
			     node->name, shown, version ? version : cluster);
	node->version = version;
}

int import_choose_version(struct import *import, const char *wanted, struct error *err)
{
	int r = choose_cluster_version(import, wanted, err);

	for (size_t i = 0; r == 0 && i < import->node_count; i++)
		if (import->nodes[i].version)
			choose_node_version(import, &import->nodes[i]);
	return r;
}

void import_release(struct import *import)
{
	struct cluster_options *options = &import->options;
	struct strlist *lists[] = {
		&options->api_names,
		&options->api_ips,
		&options->extra_config,
		&options->feature_gates,
		&options->ports,
		&options->mounts,
		&options->insecure_registries,
		&options->registry_mirrors,
		&options->docker_env,
		&options->docker_opt,
		&import->warnings,
		&import->defaults,
	};

	for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
		strlist_release(lists[i]);
	for (size_t i = 0; i < import->node_count; i++)
		free(import->nodes[i].name);
	free(import->nodes);
	json_decref(import->root);
	*import = IMPORT_INIT;
}
