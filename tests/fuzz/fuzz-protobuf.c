/* Protocol buffers: fields never leave the message, and what is read can be written again. */

#include "base/cleanup.h"
#include "data/protobuf.h"
#include "node-images/containerd.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Read MESSAGE and the messages in it. */
static void read_all(struct protobuf message, unsigned depth)
{
	const char *end = message.data + message.len;
	struct protobuf_field field;

	while (protobuf_next(&message, &field) > 0) {
		cleanup_free char *value = NULL;
		cleanup_free char *key = NULL;

		assert(field.number > 0 && message.data + message.len == end);
		if (!field.is_bytes)
			continue;
		assert(field.bytes.data + field.bytes.len == message.data);
		free(protobuf_text(&field));
		if (protobuf_pair(&field, &key, &value) == 0)
			assert(key && value);
		if (depth < 8)
			read_all(field.bytes, depth + 1);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_with(
		containerd_images_release) struct containerd_images images = CONTAINERD_IMAGES_INIT;
	const struct protobuf message = { (const char *)data, size };
	const char *found;
	size_t len;

	read_all(message, 0);
	if (containerd_parse_images(message, &images, NULL) == 0)
		for (size_t i = 0; i < images.count; i++)
			assert(images.items[i].name && images.items[i].digest);
	if (grpc_find_message((const char *)data, size, &found, &len) == 0)
		assert(found >= message.data && found + len == message.data + size);
	return 0;
}
