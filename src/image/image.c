/* What is known about an image. */

#include "image/image.h"

#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/parse.h"
#include "data/words.h"
#include "image/manifest.h"
#include "image/name.h"

/* The fewest digits that name an image. */
#define ID_LEAST  12
#define ID_PREFIX "sha256:"

void image_release(struct image *image)
{
	strlist_release(&image->names);
	free(image->manifest.type);
	free(image->config.type);
	for (size_t i = 0; i < image->layer_count; i++)
		free(image->layers[i].blob.type);
	free(image->layers);
	free(image->arch);
	strlist_release(&image->nodes);
	strlist_release(&image->except);
	*image = IMAGE_INIT;
}

void image_list_release(struct image_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		image_release(&list->items[i]);
	free(list->items);
	*list = IMAGE_LIST_INIT;
}

struct image *image_list_add(struct image_list *list)
{
	list->items = xrealloc(list->items, list->count + 1, sizeof(*list->items));
	list->items[list->count] = IMAGE_INIT;
	return &list->items[list->count++];
}

void image_list_remove(struct image_list *list, size_t i)
{
	image_release(&list->items[i]);
	memmove(&list->items[i], &list->items[i + 1], (--list->count - i) * sizeof(*list->items));
}

bool image_has_id(const struct image *image, const char *text)
{
	const char *digits = text + strlen(ID_PREFIX);
	size_t len = strncmp(text, ID_PREFIX, strlen(ID_PREFIX)) == 0 ? strlen(digits) : 0;

	return len >= ID_LEAST && (strncmp(image->config.digest, digits, len) == 0 ||
				   strncmp(image->manifest.digest, digits, len) == 0);
}

struct image *image_list_find(const struct image_list *list, const char *text)
{
	cleanup_free char *name = NULL;
	bool is_id = strncmp(text, ID_PREFIX, strlen(ID_PREFIX)) == 0;

	if (!is_id && image_name_complete(text, &name, NULL) < 0)
		return NULL;
	for (size_t i = 0; i < list->count; i++)
		if (is_id ? image_has_id(&list->items[i], text)
			  : strlist_has(&list->items[i].names, name))
			return &list->items[i];
	return NULL;
}

bool image_list_unname(struct image_list *list, const char *name)
{
	for (size_t i = 0; i < list->count; i++) {
		struct strlist *names = &list->items[i].names;

		if (!strlist_has(names, name))
			continue;
		strlist_remove(names, name);
		if (names->count == 0)
			image_list_remove(list, i);
		return true;
	}
	return false;
}

size_t image_list_name(struct image_list *list, size_t i, const char *name)
{
	size_t before = list->count;
	const struct image *holder;

	if (strlist_has(&list->items[i].names, name))
		return i;
	holder = image_list_find(list, name);
	if (holder) {
		bool is_before = holder < &list->items[i];

		(void)image_list_unname(list, name);
		i -= is_before && list->count < before;
	}
	strlist_add(&list->items[i].names, name);
	return i;
}

bool image_is_for(const struct image *image, const char *node)
{
	return (image->nodes.count == 0 || strlist_has(&image->nodes, node)) &&
	       !strlist_has(&image->except, node);
}

static bool is_same_set(const struct strlist *one, const struct strlist *other)
{
	const char *word;

	strlist_for_each(word, one)
		if (!strlist_has(other, word))
			return false;
	return one->count == other->count;
}

static void copy_words(const struct strlist *from, struct strlist *to)
{
	const char *word;

	strlist_for_each(word, from)
		strlist_add(to, word);
}

static struct image_blob copy_blob(const struct image_blob *blob)
{
	struct image_blob copy = *blob;

	copy.type = blob->type ? xstrdup(blob->type) : NULL;
	return copy;
}

/* IMAGE without its names. */
static struct image copy_contents(const struct image *image)
{
	struct image copy = IMAGE_INIT;

	copy.manifest = copy_blob(&image->manifest);
	copy.config = copy_blob(&image->config);
	copy.arch = image->arch ? xstrdup(image->arch) : NULL;
	copy.layers = xcalloc(image->layer_count + 1, sizeof(*copy.layers));
	copy.layer_count = image->layer_count;
	for (size_t i = 0; i < image->layer_count; i++) {
		copy.layers[i] = image->layers[i];
		copy.layers[i].blob = copy_blob(&image->layers[i].blob);
	}
	copy_words(&image->nodes, &copy.nodes);
	copy_words(&image->except, &copy.except);
	return copy;
}

static bool has_contents(const struct image *one, const struct image *other)
{
	return strcmp(one->manifest.digest, other->manifest.digest) == 0;
}

/* Give the contents and nodes of IMAGE, which is taken over, the NAME (NULL: none). */
static void place_image(struct image_list *list, struct image *image, const char *name)
{
	size_t i = 0;

	while (i < list->count && !(has_contents(&list->items[i], image) &&
				    is_same_set(&list->items[i].nodes, &image->nodes) &&
				    is_same_set(&list->items[i].except, &image->except)))
		i++;
	if (i == list->count) {
		*image_list_add(list) = *image;
		*image = IMAGE_INIT;
	}
	if (name)
		(void)image_list_name(list, i, name);
	image_release(image);
}

/* The item with NAME or, for NULL, the contents of IMAGE without a name; LIST->count if there is
 * none. */
static size_t find_holder(const struct image_list *list, const struct image *image,
			  const char *name)
{
	size_t i = 0;

	while (i < list->count &&
	       !(name ? strlist_has(&list->items[i].names, name)
		      : list->items[i].names.count == 0 && has_contents(&list->items[i], image)))
		i++;
	return i;
}

/* Let IMAGE, which is for some nodes already, be for NODES (NULL: all) as well. */
static void widen(struct image *image, const struct strlist *nodes)
{
	const char *node;

	if (!nodes)
		strlist_release(&image->nodes);
	if (!nodes)
		strlist_release(&image->except);
	else
		strlist_for_each(node, nodes) {
			strlist_remove(&image->except, node);
			if (image->nodes.count && !strlist_has(&image->nodes, node))
				strlist_add(&image->nodes, node);
		}
}

void image_list_give(struct image_list *list, const struct image *image, const char *name,
		     const struct strlist *nodes)
{
	const size_t i = find_holder(list, image, name);
	const bool is_known = i < list->count && has_contents(&list->items[i], image);
	struct image target = copy_contents(is_known ? &list->items[i] : image);

	if (is_known) {
		widen(&target, nodes);
		if (is_same_set(&target.nodes, &list->items[i].nodes) &&
		    is_same_set(&target.except, &list->items[i].except)) {
			image_release(&target);
			return;
		}
	} else {
		strlist_release(&target.nodes);
		strlist_release(&target.except);
		if (nodes)
			copy_words(nodes, &target.nodes);
	}
	if (name)
		(void)image_list_unname(list, name);
	else if (is_known)
		image_list_remove(list, i);
	place_image(list, &target, name);
}

/* Take IMAGE from NODES; returns whether it is for any of ALL then. */
static bool narrow(struct image *image, const struct strlist *nodes, const struct strlist *all)
{
	const bool is_listed = image->nodes.count > 0;
	const char *node;

	strlist_for_each(node, nodes) {
		strlist_remove(&image->nodes, node);
		if (!is_listed && !strlist_has(&image->except, node))
			strlist_add(&image->except, node);
	}
	if (is_listed)
		return image->nodes.count > 0;
	strlist_for_each(node, all)
		if (image_is_for(image, node))
			return true;
	return false;
}

void image_list_take(struct image_list *list, size_t i, const char *name,
		     const struct strlist *nodes, const struct strlist *all)
{
	struct image target;

	if (!name) {
		if (!narrow(&list->items[i], nodes, all))
			image_list_remove(list, i);
		return;
	}
	target = copy_contents(&list->items[i]);
	(void)image_list_unname(list, name);
	if (narrow(&target, nodes, all))
		place_image(list, &target, name);
	else
		image_release(&target);
}

uint64_t image_size(const struct image *image)
{
	uint64_t size = image->config.size;

	for (size_t i = 0; i < image->layer_count; i++)
		size += image->layers[i].blob.size;
	return size;
}

static json_t *layer_to_json(const struct image_layer *layer)
{
	json_t *json = manifest_descriptor(&layer->blob);

	(void)json_object_set_new(json, "diffID", json_string(layer->diff_id));
	return json;
}

json_t *image_to_json(const struct image *image)
{
	json_t *layers = json_array();
	json_t *json;

	for (size_t i = 0; i < image->layer_count; i++)
		(void)json_array_append_new(layers, layer_to_json(&image->layers[i]));
	json = json_pack("{s:o, s:o, s:o, s:o, s:s, s:o}", "names", words_to_json(&image->names),
			 "manifest", manifest_descriptor(&image->manifest), "config",
			 manifest_descriptor(&image->config), "layers", layers, "architecture",
			 image->arch, "nodes", words_to_json(&image->nodes));
	if (json && image->except.count)
		(void)json_object_set_new(json, "except", words_to_json(&image->except));
	return json;
}

static int read_names(const json_t *json, struct image *image, struct error *err)
{
	const json_t *item;
	size_t i;

	if (!json_is_array(json))
		return error_set(err, -EBADMSG, "an image has no list of names");
	if (json_array_size(json) > IMAGE_NAMES_MAX)
		return error_set(err, -EBADMSG, "an image has more than %d names", IMAGE_NAMES_MAX);
	json_array_foreach(json, i, item) {
		const char *name = json_string_value(item);

		if (!name || !image_name_is_complete(name))
			return error_set(err, -EBADMSG, "'%s' is not a complete name of an image",
					 name ? name : "");
		if (!strlist_has(&image->names, name))
			strlist_add(&image->names, name);
	}
	return 0;
}

/* The nodes that an image is for, or is not for. */
static int read_nodes(const json_t *json, struct strlist *ret, struct error *err)
{
	const json_t *item;
	size_t i;

	json_array_foreach(json, i, item) {
		const char *name = json_string_value(item);

		if (!name || !parse_is_dns_label(name))
			return error_set(err, -EBADMSG, "'%s' is not the name of a node",
					 name ? name : "");
		strlist_add(ret, name);
	}
	return 0;
}

static int read_layers(const json_t *json, struct image *image, struct error *err)
{
	const json_t *item;
	size_t i;

	if (!json_is_array(json) || json_array_size(json) > IMAGE_LAYERS_MAX)
		return error_set(err, -EBADMSG, "an image has no list of layers");
	image->layers = xcalloc(json_array_size(json) + 1, sizeof(*image->layers));
	json_array_foreach(json, i, item) {
		struct image_layer *layer = &image->layers[image->layer_count++];
		const char *diff = json_string_value(json_object_get(item, "diffID"));
		int r = manifest_read_descriptor(item, &layer->blob, err);

		if (r < 0)
			return r;
		if (!diff || !manifest_is_hex(diff))
			return error_set(err, -EBADMSG, "a layer has no diff ID");
		memcpy(layer->diff_id, diff, sizeof(layer->diff_id));
	}
	image_set_chain(image);
	return 0;
}

int image_from_json(const json_t *json, struct image *ret, struct error *err)
{
	cleanup_with(image_release) struct image image = IMAGE_INIT;
	const char *arch = json_string_value(json_object_get(json, "architecture"));
	int r = manifest_read_descriptor(json_object_get(json, "manifest"), &image.manifest, err);

	if (r == 0)
		r = manifest_read_descriptor(json_object_get(json, "config"), &image.config, err);
	if (r == 0)
		r = read_names(json_object_get(json, "names"), &image, err);
	if (r == 0)
		r = read_nodes(json_object_get(json, "nodes"), &image.nodes, err);
	if (r == 0)
		r = read_nodes(json_object_get(json, "except"), &image.except, err);
	if (r == 0)
		r = read_layers(json_object_get(json, "layers"), &image, err);
	if (r < 0)
		return r;
	if (!arch || !manifest_is_word(arch))
		return error_set(err, -EBADMSG, "an image has no architecture");
	image.arch = xstrdup(arch);
	*ret = image;
	image = IMAGE_INIT;
	return 0;
}

void image_set_chain(struct image *image)
{
	for (size_t i = 0; i < image->layer_count; i++) {
		struct image_layer *layer = &image->layers[i];
		cleanup_free char *pair = NULL;

		if (i == 0) {
			memcpy(layer->chain_id, layer->diff_id, sizeof(layer->chain_id));
			continue;
		}
		pair = xasprintf("sha256:%s sha256:%s", image->layers[i - 1].chain_id,
				 layer->diff_id);
		sha256_of(pair, strlen(pair), layer->chain_id);
	}
}

char *image_layer_place(const struct image_layer *layer)
{
	return xasprintf("%s:%llu:%s", layer->blob.digest, (unsigned long long)layer->blob.size,
			 layer->chain_id);
}
