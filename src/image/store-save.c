/* Writing images of a store as an archive. */

#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "data/tar.h"
#include "data/words.h"
#include "image/manifest.h"
#include "image/store.h"

#define BLOB_PATH "blobs/sha256/%s"

struct save {
	const char *store;
	struct tar_writer tar;
	struct strlist written; /* digests */
};

static int add_blob(struct save *save, const struct image_blob *blob, struct error *err)
{
	cleanup_free char *path = xasprintf(BLOB_PATH, blob->digest);
	cleanup_free char *file = image_store_blob(save->store, blob);

	if (strlist_has(&save->written, blob->digest))
		return 0;
	strlist_add(&save->written, blob->digest);
	return tar_add_file(&save->tar, path, file, 0644, err);
}

static int add_json(struct save *save, const char *path, const json_t *json, struct error *err)
{
	cleanup_free char *text = json_dumps(json, JSON_COMPACT);

	if (!text)
		return error_set(err, -EINVAL, "cannot write '%s' as JSON", path);
	return tar_add_data(&save->tar, path, text, strlen(text), 0644, err);
}

/* An entry of index.json; NAME may be NULL. */
static json_t *index_entry(const struct image *image, const char *name)
{
	json_t *entry = manifest_descriptor(&image->manifest);
	const char *colon = name ? strrchr(name, ':') : NULL;

	(void)json_object_set_new(
		entry, "platform",
		json_pack("{s:s, s:s}", "architecture", image->arch, "os", "linux"));
	if (name)
		(void)json_object_set_new(entry, "annotations",
					  json_pack("{s:s, s:s}", "io.containerd.image.name", name,
						    "org.opencontainers.image.ref.name",
						    colon ? colon + 1 : "latest"));
	return entry;
}

static int add_index(struct save *save, const struct image_list *images, struct error *err)
{
	json_t *entries = json_array();
	json_auto_t *index = json_pack("{s:i, s:s, s:o}", "schemaVersion", 2, "mediaType",
				       MANIFEST_TYPE_INDEX, "manifests", entries);

	for (size_t i = 0; i < images->count; i++) {
		const struct image *image = &images->items[i];
		const char *name;

		strlist_for_each(name, &image->names)
			(void)json_array_append_new(entries, index_entry(image, name));
		if (image->names.count == 0)
			(void)json_array_append_new(entries, index_entry(image, NULL));
	}
	return add_json(save, "index.json", index, err);
}

/* manifest.json is what `docker load` reads. */
static int add_docker_manifest(struct save *save, const struct image_list *images,
			       struct error *err)
{
	json_auto_t *list = json_array();

	for (size_t i = 0; i < images->count; i++) {
		const struct image *image = &images->items[i];
		cleanup_free char *config = xasprintf(BLOB_PATH, image->config.digest);
		json_t *layers = json_array();

		for (size_t k = 0; k < image->layer_count; k++) {
			cleanup_free char *path = xasprintf(BLOB_PATH,
							    image->layers[k].blob.digest);

			(void)json_array_append_new(layers, json_string(path));
		}
		(void)json_array_append_new(
			list, json_pack("{s:s, s:o, s:o}", "Config", config, "RepoTags",
					words_to_json(&image->names), "Layers", layers));
	}
	return add_json(save, "manifest.json", list, err);
}

static int add_image(struct save *save, const struct image *image, struct error *err)
{
	int r = add_blob(save, &image->manifest, err);

	if (r == 0)
		r = add_blob(save, &image->config, err);
	for (size_t i = 0; r == 0 && i < image->layer_count; i++)
		r = add_blob(save, &image->layers[i].blob, err);
	return r;
}

int image_store_export(const char *store, const struct image_list *images, int fd,
		       struct error *err)
{
	static const char layout[] = "{\"imageLayoutVersion\":\"1.0.0\"}";
	struct save save = {
		.store = store,
		.tar = { .fd = fd },
		.written = STRLIST_INIT,
	};
	int r;

	/* Documents first: who reads a stream then knows what the blobs are. */
	r = tar_add_data(&save.tar, "oci-layout", layout, strlen(layout), 0644, err);
	if (r == 0)
		r = add_index(&save, images, err);
	if (r == 0)
		r = add_docker_manifest(&save, images, err);
	for (size_t i = 0; r == 0 && i < images->count; i++)
		r = add_image(&save, &images->items[i], err);
	if (r == 0)
		r = tar_end(&save.tar, err);
	strlist_release(&save.written);
	return r;
}
