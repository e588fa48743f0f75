/* Reading containerd's list of images. */

#include <string.h>

#include "base/alloc.h"
#include "node-images/containerd.h"

static void release_image(struct containerd_image *image)
{
	free(image->name);
	free(image->type);
	free(image->digest);
	*image = (struct containerd_image){ NULL };
}

void containerd_images_release(struct containerd_images *images)
{
	for (size_t i = 0; i < images->count; i++)
		release_image(&images->items[i]);
	free(images->items);
	*images = CONTAINERD_IMAGES_INIT;
}

/* Replace *TEXT by the text in FIELD. */
static int take_text(const struct protobuf_field *field, char **text)
{
	free(*text);
	*text = protobuf_text(field);
	return *text ? 0 : -EBADMSG;
}

/* containerd.types.Descriptor */
static int parse_target(struct protobuf message, struct containerd_image *image)
{
	struct protobuf_field field;
	int r;

	while ((r = protobuf_next(&message, &field)) > 0) {
		if (protobuf_has_bytes(&field, 1))
			r = take_text(&field, &image->type);
		else if (protobuf_has_bytes(&field, 2))
			r = take_text(&field, &image->digest);
		else if (field.number == 3)
			image->size = field.value;
		if (r < 0)
			return r;
	}
	return r;
}

static int parse_label(const struct protobuf_field *field, struct containerd_image *image)
{
	cleanup_free char *name = NULL;
	cleanup_free char *value = NULL;
	int r = protobuf_pair(field, &name, &value);

	if (r < 0)
		return r;
	if (strcmp(name, "io.cri-containerd.image") == 0)
		image->managed = strcmp(value, "managed") == 0;
	if (strcmp(name, "io.cri-containerd.pinned") == 0)
		image->pinned = strcmp(value, "pinned") == 0;
	return 0;
}

/* containerd.services.images.v1.Image */
static int parse_image(struct protobuf message, struct containerd_image *image)
{
	struct protobuf_field field;
	int r;

	while ((r = protobuf_next(&message, &field)) > 0) {
		if (protobuf_has_bytes(&field, 1))
			r = take_text(&field, &image->name);
		else if (protobuf_has_bytes(&field, 2))
			r = parse_label(&field, image);
		else if (protobuf_has_bytes(&field, 3))
			r = parse_target(field.bytes, image);
		if (r < 0)
			return r;
	}
	return r < 0 ? r : image->name && image->type && image->digest ? 0 : -EBADMSG;
}

int containerd_parse_images(struct protobuf message, struct containerd_images *ret,
			    struct error *err)
{
	cleanup_with(
		containerd_images_release) struct containerd_images images = CONTAINERD_IMAGES_INIT;
	struct protobuf_field field;
	int r;

	while ((r = protobuf_next(&message, &field)) > 0) {
		if (!protobuf_has_bytes(&field, 1))
			continue;
		images.items = xrealloc(images.items, images.count + 1, sizeof(*images.items));
		images.items[images.count] = (struct containerd_image){ NULL };
		r = parse_image(field.bytes, &images.items[images.count++]);
		if (r < 0)
			break;
	}
	if (r < 0)
		return error_set(err, r, "containerd's list of images is damaged");
	*ret = images;
	images = CONTAINERD_IMAGES_INIT;
	return 0;
}
