/* The patches in files of kind. */

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "describe/file-kind.h"
#include "kubeadm/kubeadm-patch.h"

/* Parse a string that contains YAML. */
static int read_inner(struct file_reader *reader, const struct yaml_value *at, json_t **ret)
{
	cleanup_with(yaml_value_release) struct yaml_value value = YAML_VALUE_INIT;
	int r;

	if (at->type != YAML_WORD)
		return file_wrong(reader, at->place, "a patch must be a string; this is %s",
				  yaml_type_words(at));
	r = yaml_read("text", at->text, strlen(at->text), &value, reader->err);
	if (r < 0)
		return file_wrong_there(reader, at->place, r, "in this");
	*ret = yaml_to_json(&value);
	return 0;
}

static bool is_known(const char *kind)
{
	for (const char *const *known = kubeadm_patch_kinds; *known; known++)
		if (strcmp(*known, kind) == 0)
			return true;
	return false;
}

/* Whether a patch of KIND has an effect on NODES; warns if it has none. */
static bool has_effect(struct file_reader *reader, const struct yaml_value *at, const char *kind,
		       enum kind_nodes nodes)
{
	if (!is_known(kind)) {
		file_warn(reader, at->place, "kubeadm has no '%s': the patch is ignored", kind);
		return false;
	}
	if (nodes == KIND_FOR_ALL || kubeadm_patch_reaches(kind, nodes == KIND_FOR_PRIMARY))
		return true;
	file_warn(reader, at->place, "%s does not apply to this node: the patch is ignored", kind);
	return false;
}

/* Add CHANGE, which is released, as a word. */
static int add_change(struct file_reader *reader, const struct yaml_value *at, json_t *change,
		      struct strlist *list)
{
	json_auto_t *owned = change;
	cleanup_free char *word = json_dumps(owned, JSON_COMPACT);
	int r = kubeadm_patch_check(word, reader->err);

	if (r < 0)
		return file_wrong_there(reader, at->place, r, "in this patch");
	strlist_add(list, word);
	return 0;
}

static int read_merge(struct file_reader *reader, const struct yaml_value *at, struct strlist *list,
		      enum kind_nodes nodes)
{
	cleanup_with(strlist_release) struct strlist removed = STRLIST_INIT;
	cleanup_free char *kind = NULL;
	cleanup_free char *shown = NULL;
	json_auto_t *merge = NULL;
	const char *named;
	int r = read_inner(reader, at, &merge);

	if (r < 0)
		return r;
	named = json_string_value(json_object_get(merge, "kind"));
	if (!named)
		return file_wrong(reader, at->place, "the patch must be a mapping with a 'kind'");
	kind = xstrdup(named);
	if (!has_effect(reader, at, kind, nodes))
		return 0;
	kubeadm_patch_strip(kind, merge, &removed);
	shown = strlist_join(&removed, ", ");
	if (removed.count)
		file_warn(reader, at->place, "%s of %s is set by manykube: it is ignored", shown,
			  kind);
	return json_object_size(merge) == 0
		       ? 0
		       : add_change(reader, at,
				    json_pack("{s:s, s:O}", "kind", kind, "merge", merge), list);
}

static int read_operations(struct file_reader *reader, const struct yaml_value *map,
			   struct strlist *list, enum kind_nodes nodes)
{
	static const char *const keys[] = { "group", "version",   "kind", "patch",
					    "name",  "namespace", NULL };
	const struct yaml_value *patch;
	json_auto_t *operations = NULL;
	const char *kind = NULL;
	int r = kind_check_keys(reader, map, "a patch", keys);

	if (r == 0)
		r = kind_get_text(reader, map, "kind", &kind);
	if (r < 0)
		return r;
	patch = yaml_get(map, "patch");
	if (!kind || !patch)
		return file_wrong(reader, map->place, "the patch has no '%s'",
				  kind ? "patch" : "kind");
	if (!has_effect(reader, map, kind, nodes))
		return 0;
	r = read_inner(reader, patch, &operations);
	return r < 0 ? r
		     : add_change(reader, patch,
				  json_pack("{s:s, s:O}", "kind", kind, "operations", operations),
				  list);
}

int kind_read_patches(struct file_reader *reader, const struct yaml_value *map,
		      struct strlist *list, enum kind_nodes nodes)
{
	static const struct {
		const char *key;
		int (*read)(struct file_reader *reader, const struct yaml_value *at,
			    struct strlist *list, enum kind_nodes nodes);
	} forms[] = {
		{ "kubeadmConfigPatches", read_merge },
		{ "kubeadmConfigPatchesJSON6902", read_operations },
	};
	int r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(forms); i++) {
		const struct yaml_value *items = kind_get_list(reader, map, forms[i].key, &r);

		for (size_t n = 0; r == 0 && items && n < items->count; n++)
			r = forms[i].read(reader, &items->items[n], list, nodes);
	}
	return r;
}

/* The tables of containerd's configuration that matter here. */
enum toml_table {
	TOML_OTHER,
	TOML_REGISTRY, /* config_path */
	TOML_MIRROR,   /* endpoint, of the registry `name` */
	TOML_TLS,      /* insecure_skip_verify, likewise */
};

struct toml {
	enum toml_table table;
	char *name;
};

/* The text between the first two quotes in TEXT, for the caller to free; NULL if there is none. */
static char *quoted(const char *text)
{
	const char *begin = strpbrk(text, "\"'");
	const char *end = begin ? strchr(begin + 1, *begin) : NULL;

	return end && end > begin + 1 ? xstrndup(begin + 1, (size_t)(end - begin - 1)) : NULL;
}

/* LINE is [plugins."io.containerd.grpc.v1.cri".registry.mirrors."docker.io"] or similar. */
static void enter_table(struct toml *toml, const char *line)
{
	const char *registry = strstr(line, ".registry");
	const char *rest = registry ? registry + strlen(".registry") : "";
	bool is_ours = registry && strncmp(line, "[plugins.", 9) == 0;

	free(toml->name);
	*toml = (struct toml){ .name = quoted(rest) };
	if (is_ours && *rest == ']')
		toml->table = TOML_REGISTRY;
	else if (is_ours && toml->name && strncmp(rest, ".mirrors.", 9) == 0)
		toml->table = TOML_MIRROR;
	else if (is_ours && toml->name && strncmp(rest, ".configs.", 9) == 0 &&
		 strstr(rest, ".tls]"))
		toml->table = TOML_TLS;
}

static int read_endpoints(struct file_reader *reader, const struct yaml_value *at,
			  const char *registry, const char *value)
{
	int r = 0;

	while (r == 0 && (value = strpbrk(value, "\"'"))) {
		cleanup_free char *url = quoted(value);

		if (!url)
			break;
		r = kind_add_word(reader, at, "registry-mirror",
				  &reader->file->options.registry_mirrors,
				  xasprintf("%s=%s", registry, url));
		value += strlen(url) + 2;
	}
	return r;
}

/* LINE is KEY = VALUE; -ENOENT if it is not supported. */
static int read_setting(struct file_reader *reader, const struct yaml_value *at,
			const struct toml *toml, const char *line)
{
	cleanup_free char *key = xstrndup(line, strcspn(line, " \t="));
	const char *equals = strchr(line, '=');
	const char *value = equals ? equals + 1 + strspn(equals + 1, " \t") : "";

	/* manykube uses the same directory. */
	if (toml->table == TOML_REGISTRY && strcmp(key, "config_path") == 0 &&
	    strcmp(value, "\"/etc/containerd/certs.d\"") == 0)
		return 0;
	if (toml->table == TOML_MIRROR && strcmp(key, "endpoint") == 0 && strchr(value, ']'))
		return read_endpoints(reader, at, toml->name, value);
	if (toml->table == TOML_TLS && strcmp(key, "insecure_skip_verify") == 0 &&
	    strcmp(value, "true") == 0)
		return kind_add_word(reader, at, "insecure-registry",
				     &reader->file->options.insecure_registries,
				     xstrdup(toml->name));
	return -ENOENT;
}

static int read_toml(struct file_reader *reader, const struct yaml_value *at)
{
	cleanup_with(strlist_release) struct strlist lines = STRLIST_INIT;
	struct toml toml = { TOML_OTHER };
	const char *item;
	int r = 0;

	if (at->type != YAML_WORD)
		return file_wrong(reader, at->place, "a patch must be a string; this is %s",
				  yaml_type_words(at));
	strlist_split(&lines, at->text, '\n');
	strlist_for_each(item, &lines) {
		const char *line = item + strspn(item, " \t");
		size_t len = strlen(line);
		cleanup_free char *plain = NULL;

		while (len > 0 && strchr(" \t\r", line[len - 1]))
			len--;
		plain = xstrndup(line, len);
		if (r < 0 || !*plain || *plain == '#')
			continue;
		if (*plain == '[') {
			enter_table(&toml, plain);
			continue;
		}
		r = read_setting(reader, at, &toml, plain);
		if (r == -ENOENT) {
			file_warn(reader, at->place,
				  "only registries of containerd's configuration can be changed: "
				  "'%s' is ignored",
				  plain);
			r = 0;
		}
	}
	free(toml.name);
	return r;
}

int kind_read_containerd(struct file_reader *reader, const struct yaml_value *root)
{
	const struct yaml_value *operations = yaml_get(root, "containerdConfigPatchesJSON6902");
	int r;
	const struct yaml_value *list = kind_get_list(reader, root, "containerdConfigPatches", &r);

	for (size_t i = 0; r == 0 && list && i < list->count; i++)
		r = read_toml(reader, &list->items[i]);
	if (r == 0 && operations)
		file_warn(reader, operations->key_place,
			  "only registries of containerd's configuration can be changed: "
			  "'containerdConfigPatchesJSON6902' is ignored");
	return r;
}
