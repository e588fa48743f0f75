/* Objects of the API, as manifests have them. */

#include "cni/objects.h"

#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "data/yaml.h"
#include "record/world.h"

#define TRIES     40
#define TRY_MS    500
#define PATH_MOST 253

/* The names become parts of paths of requests. */
static bool is_plain(const char *text)
{
	return text && *text && strlen(text) <= PATH_MOST && !strpbrk(text, "/?#%\\ \t\n") &&
	       strcmp(text, ".") != 0 && strcmp(text, "..") != 0;
}

static bool is_version(const char *text)
{
	const char *slash = text ? strchr(text, '/') : NULL;
	cleanup_free char *group = slash ? xstrndup(text, (size_t)(slash - text)) : NULL;

	return slash ? is_plain(group) && is_plain(slash + 1) : is_plain(text);
}

static int not_an_object(const char *name, struct yaml_place place, const char *why,
			 struct error *err)
{
	(void)yaml_wrong(err, name, place, "%s, so this is no object of Kubernetes", why);
	return error_reason(err, -EBADMSG, &reason_usage);
}

static const char *member(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

/* Append OBJECT, which is at PLACE, or the items of a List. */
static int add_object(const char *name, struct yaml_place place, json_t *object, json_t *list,
		      struct error *err)
{
	const json_t *about = json_object_get(object, "metadata");
	const json_t *space = json_object_get(about, "namespace");
	json_t *item;
	size_t i;
	int r = 0;

	if (!json_is_object(object))
		return not_an_object(name, place, "it is not a mapping", err);
	if (!is_version(member(object, "apiVersion")))
		return not_an_object(name, place, "it has no valid 'apiVersion'", err);
	if (!is_plain(member(object, "kind")))
		return not_an_object(name, place, "it has no valid 'kind'", err);
	if (strcmp(member(object, "kind"), "List") == 0) {
		json_array_foreach(json_object_get(object, "items"), i, item) {
			if (r == 0)
				r = add_object(name, place, item, list, err);
		}
		return r;
	}
	if (!is_plain(member(about, "name")))
		return not_an_object(name, place, "it has no valid 'metadata.name'", err);
	if (space && !is_plain(json_string_value(space)))
		return not_an_object(name, place, "its 'metadata.namespace' is not valid", err);
	(void)json_array_append(list, object);
	return 0;
}

/* The length of the document at TEXT, up to the next line that begins with three dashes. */
static size_t document_length(const char *text, size_t len)
{
	const char *line = text;
	const char *end = text + len;

	while ((line = memchr(line, '\n', (size_t)(end - line))) && ++line < end)
		if (end - line >= 3 && strncmp(line, "---", 3) == 0 &&
		    (end - line == 3 || strchr(" \t\r\n", line[3])))
			return (size_t)(line - text);
	return len;
}

int objects_parse(const char *name, const char *text, size_t len, json_t *list, struct error *err)
{
	unsigned line = 0;

	while (len > 0) {
		cleanup_with(yaml_value_release) struct yaml_value value = YAML_VALUE_INIT;
		cleanup_with(strbuf_release) struct strbuf document = STRBUF_INIT;
		size_t size = document_length(text, len);
		json_auto_t *object = NULL;
		int r;

		/* Empty lines keep the numbers of lines right. */
		for (unsigned i = 0; i < line; i++)
			strbuf_add_char(&document, '\n');
		strbuf_add_mem(&document, text, size);
		r = yaml_read(name, document.text, document.len, &value, err);
		if (r < 0)
			return error_reason(err, r, &reason_usage);
		object = yaml_to_json(&value);
		if (value.type != YAML_NOTHING)
			r = add_object(name, value.place, object, list, err);
		if (r < 0)
			return r;
		for (size_t i = 0; i < size; i++)
			line += text[i] == '\n';
		text += size;
		len -= size;
	}
	return 0;
}

/* Look up the path of OBJECT; -ENOENT if the API does not know its kind. */
static int find_path(const struct profile *profile, const json_t *object, char **ret,
		     struct error *err)
{
	const json_t *about = json_object_get(object, "metadata");
	const char *version = member(object, "apiVersion");
	const char *kind = member(object, "kind");
	const char *space = member(about, "namespace");
	cleanup_free char *base = xasprintf("%s/%s", strchr(version, '/') ? "/apis" : "/api",
					    version);
	json_auto_t *answer = NULL;
	const json_t *resource;
	size_t i;
	int r = world->kube(profile, KUBE_GET, base, NULL, &answer, err);

	if (r < 0)
		return r;
	json_array_foreach(json_object_get(answer, "resources"), i, resource) {
		const char *name = member(resource, "name");
		const char *its_kind = member(resource, "kind");

		/* Others are parts of objects, such as their status. */
		if (!its_kind || strcmp(its_kind, kind) != 0 || !is_plain(name))
			continue;
		if (json_is_true(json_object_get(resource, "namespaced")))
			*ret = xasprintf("%s/namespaces/%s/%s/%s", base, space ? space : "default",
					 name, member(about, "name"));
		else
			*ret = xasprintf("%s/%s/%s", base, name, member(about, "name"));
		return 0;
	}
	return error_set(err, -ENOENT, "the API has no kind '%s' of '%s'", kind, version);
}

static int send_object(const struct profile *profile, enum kube_verb verb, const json_t *object,
		       struct error *err)
{
	cleanup_free char *path = NULL;
	int r = find_path(profile, object, &path, err);

	return r < 0 ? r
		     : world->kube(profile, verb, path, verb == KUBE_APPLY ? object : NULL, NULL,
				   err);
}

static bool may_pass(int r)
{
	return r == -ENOENT || r == -EAGAIN || r == -ETIMEDOUT || r == -ECONNREFUSED;
}

/* A namespace or a kind may be a moment late, and so may the answer of a busy machine. */
static int apply_patiently(const struct profile *profile, const json_t *object, struct error *err)
{
	for (unsigned left = TRIES;; left--) {
		int r = send_object(profile, KUBE_APPLY, object, err);

		if (!may_pass(r) || left == 0)
			return r;
		if (err)
			error_clear(err);
		clock_rest_ms(TRY_MS);
	}
}

int objects_apply(const struct profile *profile, const json_t *list, struct error *err)
{
	const json_t *object;
	size_t i;

	json_array_foreach(list, i, object) {
		int r = apply_patiently(profile, object, err);

		if (r < 0)
			return error_prefix(err, r, "cannot install %s '%s'",
					    member(object, "kind"),
					    member(json_object_get(object, "metadata"), "name"));
	}
	return 0;
}

/* The namespaces that every cluster has are no manifest's. */
static bool is_of_kubernetes(const json_t *object)
{
	const char *name = member(json_object_get(object, "metadata"), "name");

	return strcmp(member(object, "kind"), "Namespace") == 0 &&
	       (strcmp(name, "default") == 0 || strncmp(name, "kube-system", 11) == 0 ||
		strcmp(name, "kube-public") == 0 || strcmp(name, "kube-node-lease") == 0);
}

int objects_delete(const struct profile *profile, const json_t *list, struct error *err)
{
	for (size_t i = json_array_size(list); i > 0; i--) {
		const json_t *object = json_array_get(list, i - 1);
		int r = is_of_kubernetes(object) ? 0
						 : send_object(profile, KUBE_DELETE, object, err);

		if (r == -ENOENT) {
			if (err)
				error_clear(err);
		} else if (r < 0) {
			return error_prefix(err, r, "cannot delete %s '%s'", member(object, "kind"),
					    member(json_object_get(object, "metadata"), "name"));
		}
	}
	return 0;
}
