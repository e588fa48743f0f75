/*
 * Files of kind: the same cluster, as far as it is supported here.
 *
 * Nothing is ignored silently: an unsupported field is an error if the cluster would be a different
 * one, else a warning.  Two things are as in kind: nodes are named after the cluster, and control
 * planes run no ordinary pods if there are workers.
 */

#include "describe/file-kind.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/parse.h"
#include "base/suggest.h"
#include "describe/choices.h"
#include "payload/payload.h"
#include "record/options.h"

void file_warn(struct file_reader *reader, struct yaml_place place, const char *fmt, ...)
{
	cleanup_free char *words = NULL;
	va_list ap;

	va_start(ap, fmt);
	words = xvasprintf(fmt, ap);
	va_end(ap);
	strlist_addf(&reader->file->warnings, "%s:%u:%u: %s", reader->file->source, place.line,
		     place.column, words);
}

int kind_check_keys(struct file_reader *reader, const struct yaml_value *map, const char *what,
		    const char *const *keys)
{
	const struct yaml_value *item;

	if (map->type != YAML_MAP)
		return file_wrong(reader, map->place, "%s must be a mapping; this is %s", what,
				  yaml_type_words(map));
	yaml_for_each(item, map) {
		struct suggest suggest = SUGGEST_INIT(item->key);
		const char *const *key = keys;

		for (; *key && strcmp(*key, item->key) != 0; key++)
			suggest_offer(&suggest, *key);
		if (*key)
			continue;
		return file_wrong(reader, item->key_place, "%s of kind has no field '%s'%s%s%s",
				  what, item->key, suggest.nearest ? "; did you mean '" : "",
				  suggest.nearest ? suggest.nearest : "",
				  suggest.nearest ? "'?" : "");
	}
	return 0;
}

int kind_get_text(struct file_reader *reader, const struct yaml_value *map, const char *key,
		  const char **ret)
{
	const struct yaml_value *value = yaml_get(map, key);

	*ret = NULL;
	if (value && value->type != YAML_WORD)
		return file_wrong(reader, value->place, "'%s' must be a string; this is %s", key,
				  yaml_type_words(value));
	if (value && *value->text)
		*ret = value->text;
	return 0;
}

static int get_flag(struct file_reader *reader, const struct yaml_value *map, const char *key,
		    bool *ret)
{
	const struct yaml_value *value = yaml_get(map, key);

	*ret = value && value->type == YAML_WORD && strcmp(value->text, "true") == 0;
	if (value && !*ret && (value->type != YAML_WORD || strcmp(value->text, "false") != 0))
		return file_wrong(reader, value->place, "'%s' must be true or false", key);
	return 0;
}

/* A port; 0 if there is none, or if it is -1, with which kind chooses one. */
static int get_port(struct file_reader *reader, const struct yaml_value *map, const char *key,
		    unsigned *ret)
{
	const struct yaml_value *value = yaml_get(map, key);
	unsigned long long number = 0;

	if (value &&
	    (value->type != YAML_WORD || (strcmp(value->text, "-1") != 0 &&
					  parse_number(value->text, 0, 65535, &number, NULL) < 0)))
		return file_wrong(reader, value->place, "'%s' must be a port from 1 to 65535", key);
	*ret = (unsigned)number;
	return 0;
}

const struct yaml_value *kind_get_list(struct file_reader *reader, const struct yaml_value *map,
				       const char *key, int *r)
{
	const struct yaml_value *value = yaml_get(map, key);

	*r = 0;
	if (value && value->type != YAML_LIST)
		*r = file_wrong(reader, value->place, "'%s' must be a list; this is %s", key,
				yaml_type_words(value));
	return *r == 0 ? value : NULL;
}

/* Check that WORD is valid for --OPTION of `start`, or for the field of that name. */
static int check_word(const char *option, const char *word, struct error *err)
{
	const enum setting_place place = SETTING_OF_CLUSTER | SETTING_OF_DEFAULTS;
	const struct setting *setting = setting_find(place, option);

	return setting ? choices_check_word(setting, SETTING_OF_CLUSTER, word, err) : 0;
}

/* Add WORD, which is taken over, if it is valid for --OPTION. */
static int add_checked(struct file_reader *reader, const struct yaml_value *at, const char *option,
		       struct strlist *list, char *word)
{
	cleanup_free char *owned = word;
	int r = check_word(option, owned, reader->err);

	if (r < 0)
		return file_wrong_there(reader, at->place, r, at->key ? at->key : option);
	if (!strlist_has(list, owned))
		strlist_add(list, owned);
	return 0;
}

int kind_add_word(struct file_reader *reader, const struct yaml_value *at, const char *option,
		  struct strlist *list, char *word)
{
	if (!strlist_has(&reader->file->given, option))
		strlist_add(&reader->file->given, option);
	return add_checked(reader, at, option, list, word);
}

/* Of networks of both families, TEXT without those of IPv6, which are chosen for the user. */
static const char *only_ipv4(struct file_reader *reader, const struct yaml_value *at,
			     const char *text)
{
	cleanup_with(strlist_release) struct strlist words = STRLIST_INIT;
	const char *kept = text;
	const char *word;

	strlist_split(&words, text, ',');
	strlist_for_each(word, &words)
		if (words.count > 1 && strchr(word, ':'))
			file_warn(reader, at->place,
				  "manykube chooses IPv6 networks: '%s' is ignored", word);
		else
			kept = words.count > 1 ? file_keep(reader, xstrdup(word)) : text;
	return kept;
}

/* The same for a field with one word. */
static int set_word(struct file_reader *reader, const struct yaml_value *map, const char *key,
		    const char *option, const char **to)
{
	const char *text;
	int r = kind_get_text(reader, map, key, &text);

	if (r < 0 || !text)
		return r;
	text = only_ipv4(reader, yaml_get(map, key), text);
	r = check_word(option, text, reader->err);
	if (r < 0)
		return file_wrong_there(reader, yaml_get(map, key)->place, r, key);
	*to = text;
	strlist_add(&reader->file->given, option);
	return 0;
}

static int read_proxy_mode(struct file_reader *reader, const struct yaml_value *map)
{
	struct strlist *extra = &reader->file->options.extra_config;
	const struct yaml_value *value = yaml_get(map, "kubeProxyMode");
	const char *mode;
	int r = kind_get_text(reader, map, "kubeProxyMode", &mode);

	if (r < 0 || !mode || strcmp(mode, "nftables") == 0)
		return r;
	if (strcmp(mode, "none") == 0)
		return kind_add_word(reader, value, "extra-config", extra,
				     xstrdup("kubeadm.proxy.disabled=true"));
	if (strcmp(mode, "iptables") != 0 && strcmp(mode, "ipvs") != 0)
		return file_wrong(reader, value->place,
				  "unknown kubeProxyMode '%s'; use nftables or none", mode);
	file_warn(reader, value->place, "kube-proxy uses nftables here, not %s", mode);
	return 0;
}

static int read_family(struct file_reader *reader, const struct yaml_value *map)
{
	struct cluster_options *options = &reader->file->options;
	int r = set_word(reader, map, "ipFamily", "ip-family", &options->ip_family);

	if (r < 0 || !options->ip_family || strcmp(options->ip_family, "ipv4") == 0 ||
	    strcmp(options->ip_family, "dual") == 0)
		return r;
	return file_wrong(
		reader, yaml_get(map, "ipFamily")->place,
		"ipFamily can be 'ipv4' or 'dual', not '%s': the control plane needs IPv4",
		options->ip_family);
}

static int read_networking(struct file_reader *reader, const struct yaml_value *map)
{
	static const char *const keys[] = { "ipFamily",      "apiServerPort", "apiServerAddress",
					    "podSubnet",     "serviceSubnet", "disableDefaultCNI",
					    "kubeProxyMode", "dnsSearch",     NULL };
	struct cluster_options *options = &reader->file->options;
	const char *address = NULL;
	bool no_cni = false;
	int r = kind_check_keys(reader, map, "networking", keys);

	if (r == 0)
		r = read_family(reader, map);
	if (r == 0)
		r = get_port(reader, map, "apiServerPort", &options->api_port);
	if (r == 0 && options->api_port)
		strlist_add(&reader->file->given, "apiserver-port");
	if (r == 0)
		r = kind_get_text(reader, map, "apiServerAddress", &address);
	if (r == 0 && address && strcmp(address, "127.0.0.1") != 0)
		file_warn(reader, yaml_get(map, "apiServerAddress")->place,
			  "the API listens on 127.0.0.1 only, not on %s", address);
	if (r == 0)
		r = set_word(reader, map, "podSubnet", "pod-network-cidr", &options->pod_subnet);
	if (r == 0)
		r = set_word(reader, map, "serviceSubnet", "service-cluster-ip-range",
			     &options->service_subnet);
	if (r == 0)
		r = get_flag(reader, map, "disableDefaultCNI", &no_cni);
	if (r == 0 && no_cni) {
		options->cni = "none";
		strlist_add(&reader->file->given, "cni");
	}
	if (r == 0 && yaml_get(map, "dnsSearch"))
		file_warn(reader, yaml_get(map, "dnsSearch")->key_place,
			  "nodes have no search domains: 'dnsSearch' is ignored");
	return r < 0 ? r : read_proxy_mode(reader, map);
}

static int read_gates(struct file_reader *reader, const struct yaml_value *map)
{
	const struct yaml_value *item;
	int r = 0;

	if (map->type != YAML_MAP)
		return file_wrong(reader, map->place,
				  "'featureGates' must be a mapping; this is %s",
				  yaml_type_words(map));
	yaml_for_each(item, map) {
		bool on;

		if (r == 0)
			r = get_flag(reader, map, item->key, &on);
		if (r == 0)
			r = kind_add_word(reader, item, "feature-gates",
					  &reader->file->options.feature_gates,
					  xasprintf("%s=%s", item->key, on ? "true" : "false"));
	}
	return r;
}

static int read_runtime_config(struct file_reader *reader, const struct yaml_value *map)
{
	cleanup_with(strlist_release) struct strlist words = STRLIST_INIT;
	cleanup_free char *joined = NULL;
	const struct yaml_value *item;

	if (map->type != YAML_MAP)
		return file_wrong(reader, map->place,
				  "'runtimeConfig' must be a mapping; this is %s",
				  yaml_type_words(map));
	yaml_for_each(item, map) {
		if (item->type != YAML_WORD)
			return file_wrong(reader, item->place, "'%s' must be a string; this is %s",
					  item->key, yaml_type_words(item));
		strlist_addf(&words, "%s=%s", item->key, item->text);
	}
	joined = strlist_join(&words, ",");
	return words.count == 0 ? 0
				: kind_add_word(reader, map, "extra-config",
						&reader->file->options.extra_config,
						xasprintf("apiserver.runtime-config=%s", joined));
}

/* "v1.36.1" for "kindest/node:v1.36.1@sha256:...", for the caller to free; NULL if there is no
 * version. */
static char *version_of_image(const char *image)
{
	cleanup_free char *plain = xstrndup(image, strcspn(image, "@"));
	const char *name = strrchr(plain, '/');
	const char *tag = strchr(name ? name : plain, ':');

	return tag && tag[1] == 'v' ? xstrdup(tag + 1) : NULL;
}

/* Nodes are not created from an image here, but its tag names a version of Kubernetes. */
static int read_image(struct file_reader *reader, const struct yaml_value *map, const char **ret)
{
	const struct yaml_value *value = yaml_get(map, "image");
	cleanup_free char *version = NULL;
	cleanup_free char *minor = NULL;
	const char *image;
	int r = kind_get_text(reader, map, "image", &image);

	*ret = NULL;
	if (r < 0 || !image)
		return r;
	version = version_of_image(image);
	if (!version) {
		file_warn(reader, value->place,
			  "nodes are not created from images, and '%s' names no Kubernetes version",
			  image);
		return 0;
	}
	if (reader->has_version || payload_resolve_version(version, ret, NULL) == 0)
		return 0;
	minor = xstrndup(version, strlen(version) - strlen(strrchr(version, '.') ?: ""));
	if (payload_resolve_version(minor, ret, NULL) == 0) {
		file_warn(reader, value->place, "Kubernetes will be %s instead of %s", *ret,
			  version);
		return 0;
	}
	r = payload_resolve_version(version, ret, reader->err);
	(void)error_hint(reader->err, r,
			 "use --kubernetes-version for all nodes, or change the image");
	return file_wrong_there(reader, value->place, r, "image");
}

static int read_mounts(struct file_reader *reader, const struct yaml_value *map,
		       struct node_options *node)
{
	static const char *const keys[] = { "containerPath",  "hostPath",    "readOnly",
					    "selinuxRelabel", "propagation", NULL };
	const struct yaml_value *item;
	int r;
	const struct yaml_value *list = kind_get_list(reader, map, "extraMounts", &r);

	for (item = list ? list->items : NULL; r == 0 && list && item < list->items + list->count;
	     item++) {
		const char *host = NULL, *inside = NULL, *propagation = NULL;
		cleanup_free char *path = NULL;
		bool read_only = false;

		r = kind_check_keys(reader, item, "a mount", keys);
		if (r == 0)
			r = kind_get_text(reader, item, "hostPath", &host);
		if (r == 0)
			r = kind_get_text(reader, item, "containerPath", &inside);
		if (r == 0)
			r = kind_get_text(reader, item, "propagation", &propagation);
		if (r == 0)
			r = get_flag(reader, item, "readOnly", &read_only);
		if (r == 0 && (!host || !inside))
			r = file_wrong(reader, item->place, "the mount has no '%s'",
				       host ? "containerPath" : "hostPath");
		if (r < 0)
			return r;
		if (propagation && strcmp(propagation, "None") != 0)
			file_warn(reader, yaml_get(item, "propagation")->place,
				  "mount propagation is not supported: later mounts below '%s' are "
				  "not visible in nodes",
				  host);
		path = file_absolute_path(reader, host);
		r = add_checked(reader, item, "mount", &node->mounts,
				xasprintf("%s:%s%s", path, inside, read_only ? ":ro" : ""));
	}
	return r;
}

static int read_ports(struct file_reader *reader, const struct yaml_value *map,
		      const struct node_options *node)
{
	static const char *const keys[] = { "containerPort", "hostPort", "listenAddress",
					    "protocol", NULL };
	const struct yaml_value *item;
	int r;
	const struct yaml_value *list = kind_get_list(reader, map, "extraPortMappings", &r);

	for (item = list ? list->items : NULL; r == 0 && list && item < list->items + list->count;
	     item++) {
		const char *address = NULL, *protocol = NULL;
		unsigned inside = 0, outside = 0;

		r = kind_check_keys(reader, item, "a port mapping", keys);
		if (r == 0)
			r = get_port(reader, item, "containerPort", &inside);
		if (r == 0)
			r = get_port(reader, item, "hostPort", &outside);
		if (r == 0)
			r = kind_get_text(reader, item, "listenAddress", &address);
		if (r == 0)
			r = kind_get_text(reader, item, "protocol", &protocol);
		if (r == 0 && !inside)
			r = file_wrong(reader, item->place, "the mapping has no 'containerPort'");
		if (r < 0)
			return r;
		if (protocol && strcasecmp(protocol, "TCP") != 0)
			file_warn(reader, item->place,
				  "only TCP ports can be forwarded: this %s mapping is ignored",
				  protocol);
		else if (!outside)
			file_warn(reader, item->place,
				  "the mapping has no 'hostPort': it is ignored");
		else
			r = kind_add_word(reader, item, "ports", &reader->file->options.ports,
					  xasprintf("%s:%u:%u@%s", address ? address : "0.0.0.0",
						    outside, inside, node->name));
	}
	return r;
}

static int read_labels(struct file_reader *reader, const struct yaml_value *map,
		       struct node_options *node)
{
	const struct yaml_value *labels = yaml_get(map, "labels");
	const struct yaml_value *item;
	int r = 0;

	if (!labels)
		return 0;
	if (labels->type != YAML_MAP)
		return file_wrong(reader, labels->place, "'labels' must be a mapping; this is %s",
				  yaml_type_words(labels));
	yaml_for_each(item, labels) {
		if (r == 0 && item->type != YAML_WORD)
			r = file_wrong(reader, item->place, "a label must be a string; this is %s",
				       yaml_type_words(item));
		if (r == 0)
			r = add_checked(reader, item, "label", &node->labels,
					xasprintf("%s=%s", item->key, item->text));
	}
	return r;
}

/* "dev-worker", "dev-worker2", as in kind. */
static const char *node_name(struct file_reader *reader, const char *role, unsigned number)
{
	const char *name = reader->file->name;

	return file_keep(reader, number == 1 ? xasprintf("%s-%s", name, role)
					     : xasprintf("%s-%s%u", name, role, number));
}

/* Read the nodes without their settings, which need all names and roles. */
static int read_roles(struct file_reader *reader, const struct yaml_value *list)
{
	static const char *const roles[] = { "control-plane", "worker" };
	unsigned counts[ARRAY_SIZE(roles)] = { 0 };

	for (size_t i = 0; i < list->count; i++) {
		const struct yaml_value *item = &list->items[i];
		struct node_options *node = file_add_node(reader, item->place);
		const char *role = NULL;
		size_t n = 0;
		int r = item->type == YAML_MAP ? kind_get_text(reader, item, "role", &role) : 0;

		if (r < 0)
			return r;
		while (role && n < ARRAY_SIZE(roles) && strcmp(roles[n], role) != 0)
			n++;
		if (n == ARRAY_SIZE(roles))
			return file_wrong(reader, yaml_get(item, "role")->place,
					  "unknown role '%s'; use control-plane or worker", role);
		node->control_plane = n == 0;
		node->name = node_name(reader, roles[n], ++counts[n]);
	}
	if (counts[0] == 0)
		return file_wrong(reader, list->place,
				  "no node is a control plane; one needs 'role: control-plane'");
	for (size_t i = 0; counts[1] > 0 && i < reader->file->node_count; i++)
		reader->file->nodes[i].no_schedule = reader->file->nodes[i].control_plane;
	return 0;
}

static bool is_primary(const struct cluster_file *file, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (file->nodes[i].control_plane)
			return false;
	return file->nodes[at].control_plane;
}

static int read_node(struct file_reader *reader, const struct yaml_value *map, size_t at)
{
	static const char *const keys[] = { "role",
					    "image",
					    "labels",
					    "extraMounts",
					    "extraPortMappings",
					    "gpus",
					    "kubeadmConfigPatches",
					    "kubeadmConfigPatchesJSON6902",
					    NULL };
	struct cluster_file *file = reader->file;
	struct node_options *node = &file->nodes[at];
	const char *version = NULL;
	int r = kind_check_keys(reader, map, "a node", keys);

	if (r == 0)
		r = read_image(reader, map, &version);
	if (r == 0)
		r = read_labels(reader, map, node);
	if (r == 0)
		r = read_mounts(reader, map, node);
	if (r == 0)
		r = read_ports(reader, map, node);
	if (r == 0)
		r = kind_read_patches(reader, map, &node->kubeadm_patches,
				      is_primary(file, at) ? KIND_FOR_PRIMARY : KIND_FOR_JOINING);
	if (r < 0)
		return r;
	if (yaml_get(map, "gpus"))
		file_warn(reader, yaml_get(map, "gpus")->key_place,
			  "nodes have no GPUs: 'gpus' is ignored");
	if (version && is_primary(file, at)) {
		file->options.kubernetes_version = version;
		strlist_add(&file->given, "kubernetes-version");
	} else if (version && strcmp(version, file->options.kubernetes_version ?: "") != 0) {
		node->kubernetes_version = version;
	}
	return 0;
}

static int read_nodes(struct file_reader *reader, const struct yaml_value *root)
{
	int r;
	const struct yaml_value *list = kind_get_list(reader, root, "nodes", &r);
	struct node_options *node;

	if (r == 0 && !list) {
		node = file_add_node(reader, root->place);
		node->control_plane = true;
		node->name = node_name(reader, "control-plane", 1);
	}
	if (r < 0 || !list)
		return r;
	r = read_roles(reader, list);
	/* The version of the primary is that of the cluster. */
	for (int primary = 1; primary >= 0; primary--)
		for (size_t i = 0; r == 0 && i < list->count; i++)
			if (is_primary(reader->file, i) == primary)
				r = read_node(reader, &list->items[i], i);
	strlist_add(&reader->file->given, "nodes");
	return r;
}

int file_read_kind(struct file_reader *reader, const struct yaml_value *root)
{
	static const char *const keys[] = { "apiVersion",
					    "kind",
					    "name",
					    "nodes",
					    "networking",
					    "featureGates",
					    "runtimeConfig",
					    "kubeadmConfigPatches",
					    "kubeadmConfigPatchesJSON6902",
					    "containerdConfigPatches",
					    "containerdConfigPatchesJSON6902",
					    NULL };
	static const struct {
		const char *key;
		int (*read)(struct file_reader *reader, const struct yaml_value *value);
	} parts[] = {
		{ "networking", read_networking },
		{ "featureGates", read_gates },
		{ "runtimeConfig", read_runtime_config },
	};
	int r = kind_check_keys(reader, root, "a cluster", keys);
	char *here = getcwd(NULL, 0);

	reader->file->foreign = true;
	/* As in kind. */
	if (here) {
		free(reader->file->dir);
		reader->file->dir = here;
	}
	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(parts); i++)
		if (yaml_get(root, parts[i].key))
			r = parts[i].read(reader, yaml_get(root, parts[i].key));
	if (r == 0)
		r = kind_read_patches(reader, root, &reader->file->options.kubeadm_patches,
				      KIND_FOR_ALL);
	if (r == 0)
		r = kind_read_containerd(reader, root);
	return r < 0 ? r : read_nodes(reader, root);
}
