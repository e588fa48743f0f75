/* Documents of image archives are refused, or give images that are stored and read again. */

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "image/archive.h"
#include "image/manifest.h"
#include "image/name.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_index(const char *text, size_t len)
{
	cleanup_with(manifest_index_release) struct manifest_index index = MANIFEST_INDEX_INIT;

	if (manifest_parse_index(text, len, &index, NULL) < 0)
		return;
	for (size_t i = 0; i < index.count; i++)
		if (!manifest_is_hex(index.items[i].blob.digest) ||
		    (index.items[i].name && !image_name_is_complete(index.items[i].name)))
			abort();
}

static void check_docker(const char *text, size_t len)
{
	cleanup_with(manifest_docker_list_release) struct manifest_docker_list list =
		MANIFEST_DOCKER_LIST_INIT;
	const char *name;

	if (manifest_parse_docker(text, len, &list, NULL) < 0)
		return;
	for (size_t i = 0; i < list.count; i++) {
		cleanup_free char *path = archive_normalize(list.items[i].config);

		if (path && (*path == '/' || strstr(path, "/../")))
			abort();
		strlist_for_each(name, &list.items[i].names)
			if (!image_name_is_complete(name))
				abort();
	}
}

/* A document that is a manifest and a configuration at once is as good as two. */
static void check_image(const char *text, size_t len)
{
	cleanup_with(image_release) struct image image = IMAGE_INIT;
	cleanup_with(image_release) struct image again = IMAGE_INIT;
	cleanup_free char *manifest = NULL;
	json_auto_t *json = NULL;

	if (manifest_parse(text, len, &image, NULL) < 0 ||
	    manifest_parse_config(text, len, &image, NULL) < 0)
		return;
	manifest = manifest_write(&image);
	if (!manifest || manifest_is_index(manifest, strlen(manifest)))
		abort();
	image.manifest = (struct image_blob){ .type = strdup(MANIFEST_TYPE_MANIFEST), .size = 1 };
	memset(image.manifest.digest, 'a', SHA256_HEX_SIZE - 1);
	json = image_to_json(&image);
	if (!json || image_from_json(json, &again, NULL) < 0 ||
	    again.layer_count != image.layer_count || strcmp(again.arch, image.arch) != 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_with(image_release) struct image stored = IMAGE_INIT;
	json_auto_t *json = json_loadb((const char *)data, size, 0, NULL);

	check_index((const char *)data, size);
	check_docker((const char *)data, size);
	check_image((const char *)data, size);
	if (json)
		(void)image_from_json(json, &stored, NULL);
	return 0;
}
