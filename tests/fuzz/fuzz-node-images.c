/* What a node answers about its images: names and digests have their form. */

#include <string.h>

#include "base/cleanup.h"
#include "node-images/node-images.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_with(node_image_list_release) struct node_image_list list = NODE_IMAGE_LIST_INIT;
	cleanup_with(error_clear) struct error err = ERROR_INIT;
	const char *digest;

	if (node_images_parse((const char *)data, size, &list, &err) < 0) {
		assert(err.text && !strchr(err.text, '\n'));
		return 0;
	}
	for (size_t i = 0; i < list.count; i++) {
		assert(sha256_is_hex(list.items[i].digest));
		assert(!*list.items[i].config || sha256_is_hex(list.items[i].config));
		assert(*list.items[i].name && !strpbrk(list.items[i].name, " \t\n\033"));
	}
	strlist_for_each(digest, &list.used_layers)
		assert(sha256_is_hex(digest));
	return 0;
}
