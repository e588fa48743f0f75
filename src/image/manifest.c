/* The documents of image archives. */

#include "image/manifest.h"

#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/strbuf.h"
#include "image/name.h"

#define WORD_MAX_BYTES 255

#define DIGEST_PREFIX "sha256:"

bool manifest_is_hex(const char *text)
{
	return strlen(text) == SHA256_HEX_SIZE - 1 &&
	       strspn(text, "0123456789abcdef") == SHA256_HEX_SIZE - 1;
}

bool manifest_is_word(const char *text)
{
	size_t len = strlen(text);

	if (len == 0 || len > WORD_MAX_BYTES)
		return false;
	for (const char *p = text; *p; p++)
		if (*p <= ' ' || *p > '~' || *p == '"' || *p == '\\')
			return false;
	return true;
}

static const char *string_of(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

static int load_document(const char *text, size_t len, const char *what, json_t **ret,
			 struct error *err)
{
	json_error_t problem;

	*ret = json_loadb(text, len, 0, &problem);
	if (!*ret)
		return error_set(err, -EBADMSG, "%s is not JSON: %s", what, problem.text);
	return 0;
}

/* Copy the digest "sha256:HEX" without its prefix. */
static int read_digest(const char *text, char ret[SHA256_HEX_SIZE], struct error *err)
{
	if (!text)
		return error_set(err, -EBADMSG, "a digest is missing");
	if (strncmp(text, DIGEST_PREFIX, strlen(DIGEST_PREFIX)) != 0 ||
	    !manifest_is_hex(text + strlen(DIGEST_PREFIX)))
		return error_set(err, -EBADMSG, "'%.100s' is not a SHA-256 digest", text);
	memcpy(ret, text + strlen(DIGEST_PREFIX), SHA256_HEX_SIZE);
	return 0;
}

json_t *manifest_descriptor(const struct image_blob *blob)
{
	cleanup_free char *digest = xasprintf(DIGEST_PREFIX "%s", blob->digest);

	return json_pack("{s:s, s:s, s:I}", "mediaType", blob->type, "digest", digest, "size",
			 (json_int_t)blob->size);
}

int manifest_read_descriptor(const json_t *json, struct image_blob *ret, struct error *err)
{
	const char *type = string_of(json, "mediaType");
	const json_t *size = json_object_get(json, "size");
	int r = read_digest(string_of(json, "digest"), ret->digest, err);

	if (r < 0)
		return r;
	if (!json_is_integer(size) || json_integer_value(size) < 0)
		return error_set(err, -EBADMSG, "the size of sha256:%s is missing", ret->digest);
	if (!type || !manifest_is_word(type))
		return error_set(err, -EBADMSG, "the media type of sha256:%s is missing",
				 ret->digest);
	ret->size = (uint64_t)json_integer_value(size);
	free(ret->type);
	ret->type = xstrdup(type);
	return 0;
}

/* A name in annotations.  OCI's is often a bare tag, which names nothing. */
static char *find_name(const json_t *annotations)
{
	const char *full = string_of(annotations, "io.containerd.image.name");
	const char *reference = string_of(annotations, "org.opencontainers.image.ref.name");
	char *name = NULL;

	if (full && image_name_complete(full, &name, NULL) == 0)
		return name;
	if (reference && strpbrk(reference, "/:") &&
	    image_name_complete(reference, &name, NULL) == 0)
		return name;
	return NULL;
}

static bool is_attestation(const json_t *entry)
{
	const json_t *platform = json_object_get(entry, "platform");
	const char *kind = string_of(json_object_get(entry, "annotations"),
				     "vnd.docker.reference.type");

	return (kind && strcmp(kind, "attestation-manifest") == 0) ||
	       text_is(string_of(platform, "architecture"), "unknown");
}

bool manifest_is_index(const char *text, size_t len)
{
	json_auto_t *json = json_loadb(text, len, 0, NULL);

	return json_is_array(json_object_get(json, "manifests"));
}

int manifest_parse_index(const char *text, size_t len, struct manifest_index *ret,
			 struct error *err)
{
	json_auto_t *json = NULL;
	const json_t *entries;
	const json_t *entry;
	size_t i;
	int r = load_document(text, len, "the index", &json, err);

	if (r < 0)
		return r;
	entries = json_object_get(json, "manifests");
	if (!json_is_array(entries))
		return error_set(err, -EBADMSG, "the index has no list of manifests");
	if (json_array_size(entries) > MANIFEST_INDEX_MAX)
		return error_set(err, -EBADMSG, "the index has more than %d manifests",
				 MANIFEST_INDEX_MAX);
	ret->items = xcalloc(json_array_size(entries) + 1, sizeof(*ret->items));
	json_array_foreach(entries, i, entry) {
		struct manifest_entry *item = &ret->items[ret->count++];

		r = manifest_read_descriptor(entry, &item->blob, err);
		if (r < 0)
			return error_prefix(err, r, "the index");
		item->name = find_name(json_object_get(entry, "annotations"));
		item->is_attestation = is_attestation(entry);
	}
	return 0;
}

void manifest_index_release(struct manifest_index *index)
{
	for (size_t i = 0; i < index->count; i++) {
		free(index->items[i].blob.type);
		free(index->items[i].name);
	}
	free(index->items);
	*index = MANIFEST_INDEX_INIT;
}

/* Whether TYPE is that of a layer as containerd knows them, and can be read without a key. */
static bool is_layer_type(const char *type)
{
	static const char *const bases[] = {
		MANIFEST_TYPE_LAYER,
		"application/vnd.oci.image.layer.nondistributable.v1.tar",
		"application/vnd.docker.image.rootfs.diff.tar",
		"application/vnd.docker.image.rootfs.foreign.diff.tar",
	};
	static const char *const suffixes[] = { "", "+gzip", "+zstd", ".gzip", ".zstd" };

	for (size_t i = 0; i < ARRAY_SIZE(bases); i++) {
		size_t len = strlen(bases[i]);

		if (strncmp(type, bases[i], len) != 0)
			continue;
		for (size_t k = 0; k < ARRAY_SIZE(suffixes); k++)
			if (strcmp(type + len, suffixes[k]) == 0)
				return true;
	}
	return false;
}

static int read_layer(const json_t *json, struct image_blob *ret, struct error *err)
{
	int r = manifest_read_descriptor(json, ret, err);

	if (r == 0 && !is_layer_type(ret->type))
		return error_set(err, -EBADMSG,
				 "sha256:%s has the type '%s', which is not that of a layer",
				 ret->digest, ret->type);
	return r;
}

int manifest_parse(const char *text, size_t len, struct image *image, struct error *err)
{
	json_auto_t *json = NULL;
	const json_t *layers;
	const json_t *layer;
	size_t i;
	int r = load_document(text, len, "the manifest", &json, err);

	if (r < 0)
		return r;
	layers = json_object_get(json, "layers");
	/* Docker writes null for an image that has none. */
	if (layers && !json_is_null(layers) && !json_is_array(layers))
		return error_set(err, -EBADMSG, "the manifest has no list of layers");
	if (json_array_size(layers) > IMAGE_LAYERS_MAX)
		return error_set(err, -EBADMSG, "the image has more than %d layers",
				 IMAGE_LAYERS_MAX);
	r = manifest_read_descriptor(json_object_get(json, "config"), &image->config, err);
	image->layers = xcalloc(json_array_size(layers) + 1, sizeof(*image->layers));
	json_array_foreach(layers, i, layer)
		if (r == 0)
			r = read_layer(layer, &image->layers[image->layer_count++].blob, err);
	return r < 0 ? error_prefix(err, r, "the manifest") : 0;
}

/* Check that the configuration is that of a Linux image; RET_ARCH is valid as long as JSON. */
static int read_platform(const json_t *json, const char **ret_arch, struct error *err)
{
	const char *os = string_of(json, "os");

	*ret_arch = string_of(json, "architecture");
	if (!*ret_arch || !manifest_is_word(*ret_arch) ||
	    !json_is_object(json_object_get(json, "rootfs")))
		return error_set(err, -EBADMSG, "it is not a container image");
	if (os && *os && strcmp(os, "linux") != 0)
		return error_set(err, -EBADMSG, "the image is for '%.40s', not for linux", os);
	return 0;
}

static int read_diff_ids(const json_t *json, struct strlist *ret, struct error *err)
{
	const json_t *ids = json_object_get(json_object_get(json, "rootfs"), "diff_ids");
	const json_t *id;
	size_t i;

	if (json_array_size(ids) > IMAGE_LAYERS_MAX)
		return error_set(err, -EBADMSG, "the image has more than %d layers",
				 IMAGE_LAYERS_MAX);
	json_array_foreach(ids, i, id) {
		char hex[SHA256_HEX_SIZE];
		int r = read_digest(json_string_value(id), hex, err);

		if (r < 0)
			return error_prefix(err, r, "the image's configuration");
		strlist_add(ret, hex);
	}
	return 0;
}

int manifest_parse_diff_ids(const char *text, size_t len, struct strlist *ret, struct error *err)
{
	json_auto_t *json = NULL;
	int r = load_document(text, len, "the image's configuration", &json, err);

	return r < 0 ? r : read_diff_ids(json, ret, err);
}

int manifest_parse_config(const char *text, size_t len, struct image *image, struct error *err)
{
	cleanup_with(strlist_release) struct strlist ids = STRLIST_INIT;
	json_auto_t *json = NULL;
	const char *arch = NULL;
	int r = load_document(text, len, "the image's configuration", &json, err);

	if (r == 0)
		r = read_platform(json, &arch, err);
	if (r == 0)
		r = read_diff_ids(json, &ids, err);
	if (r < 0)
		return r;
	if (ids.count != image->layer_count)
		return error_set(err, -EBADMSG,
				 "the manifest has %zu layers, but the configuration has %zu",
				 image->layer_count, ids.count);
	for (size_t i = 0; i < ids.count; i++)
		memcpy(image->layers[i].diff_id, ids.items[i], SHA256_HEX_SIZE);
	free(image->arch);
	image->arch = xstrdup(arch);
	image_set_chain(image);
	return 0;
}

static int read_paths(const json_t *list, struct strlist *ret, struct error *err)
{
	const json_t *item;
	size_t i;

	if (json_array_size(list) > IMAGE_LAYERS_MAX)
		return error_set(err, -EBADMSG, "the image has more than %d layers",
				 IMAGE_LAYERS_MAX);
	json_array_foreach(list, i, item) {
		if (!json_is_string(item))
			return error_set(err, -EBADMSG, "manifest.json has an invalid layer");
		strlist_add(ret, json_string_value(item));
	}
	return 0;
}

static int read_docker_image(const json_t *json, struct manifest_docker *ret, struct error *err)
{
	const json_t *tags = json_object_get(json, "RepoTags");
	const char *config = string_of(json, "Config");
	const json_t *tag;
	size_t i;

	if (!config)
		return error_set(err, -EBADMSG, "manifest.json names no configuration");
	if (json_array_size(tags) > IMAGE_NAMES_MAX)
		return error_set(err, -EBADMSG, "an image has more than %d names", IMAGE_NAMES_MAX);
	ret->config = xstrdup(config);
	json_array_foreach(tags, i, tag) {
		const char *text = json_string_value(tag);
		cleanup_free char *name = NULL;

		if (!text || image_name_complete(text, &name, NULL) < 0)
			return error_set(err, -EBADMSG, "'%.100s' is not the name of an image",
					 text ? text : "");
		strlist_add(&ret->names, name);
	}
	return read_paths(json_object_get(json, "Layers"), &ret->layers, err);
}

int manifest_parse_docker(const char *text, size_t len, struct manifest_docker_list *ret,
			  struct error *err)
{
	json_auto_t *json = NULL;
	const json_t *item;
	size_t i;
	int r = load_document(text, len, "manifest.json", &json, err);

	if (r < 0)
		return r;
	if (!json_is_array(json) || json_array_size(json) > MANIFEST_INDEX_MAX)
		return error_set(err, -EBADMSG, "manifest.json is not a list of images");
	ret->items = xcalloc(json_array_size(json) + 1, sizeof(*ret->items));
	json_array_foreach(json, i, item) {
		struct manifest_docker *docker = &ret->items[ret->count++];

		docker->names = STRLIST_INIT;
		docker->layers = STRLIST_INIT;
		r = read_docker_image(item, docker, err);
		if (r < 0)
			return r;
	}
	return 0;
}

void manifest_docker_list_release(struct manifest_docker_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		free(list->items[i].config);
		strlist_release(&list->items[i].names);
		strlist_release(&list->items[i].layers);
	}
	free(list->items);
	*list = MANIFEST_DOCKER_LIST_INIT;
}

char *manifest_write(const struct image *image)
{
	json_auto_t *json = NULL;
	json_t *layers = json_array();

	for (size_t i = 0; i < image->layer_count; i++)
		(void)json_array_append_new(layers, manifest_descriptor(&image->layers[i].blob));
	json = json_pack("{s:i, s:s, s:o, s:o}", "schemaVersion", 2, "mediaType",
			 MANIFEST_TYPE_MANIFEST, "config", manifest_descriptor(&image->config),
			 "layers", layers);
	return json_dumps(json, JSON_COMPACT);
}
