/*
 * Installing, listing, tagging and removing images, in the process that has entered the node.
 *
 * Everything is done with the rights of the node's root and by its paths.  What the node answers is
 * untrusted, but can only harm this process.
 */
#include "node-images/images-inside.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "driver/driver.h"
#include "node-images/containerd.h"
#include "node-images/images-look.h"

#define WAIT_MS 30000

/* How often to put a link back that containerd's cleaning has removed before it was registered. */
#define TRIES 5

#define STORE NODE_SHARED_DIR "/images"

/* Make LINK lead to TARGET unless something is there. */
static int make_link(const char *target, const char *link, struct error *err)
{
	if (symlink(target, link) < 0 && errno != EEXIST)
		return error_sys(err, "cannot create '%s'", link);
	return 0;
}

/* Make sure that the blob is in the directory of the content store: a file there, or a link that
 * leads to one. */
static int link_blob(const char *hex, struct error *err)
{
	cleanup_free char *link = xasprintf(IMAGES_BLOBS "/%s", hex);
	cleanup_free char *target = xasprintf(STORE "/blobs/%s", hex);

	return make_link(target, link, err);
}

static int put_blob(struct containerd *containerd, const struct image_blob *blob,
		    const struct strlist *labels, struct error *err)
{
	int r = 0;

	for (int i = 0; i < TRIES; i++) {
		error_clear(err);
		r = link_blob(blob->digest, err);
		if (r == 0)
			r = containerd_put_blob(containerd, blob->digest, blob->size, labels, err);
		if (r != -ERANGE)
			break;
	}
	return r;
}

static void add_label(struct strlist *labels, const char *name, const char *hex)
{
	strlist_add(labels, name);
	strlist_addf(labels, "sha256:%s", hex);
}

/* Register layers, configuration and manifest.  The labels are containerd's own, which tell its
 * garbage collection what belongs together. */
static int put_blobs(struct containerd *containerd, const struct image *image, struct error *err)
{
	cleanup_with(strlist_release) struct strlist config = STRLIST_INIT;
	cleanup_with(strlist_release) struct strlist manifest = STRLIST_INIT;
	int r = 0;

	add_label(&manifest, "containerd.io/gc.ref.content.config", image->config.digest);
	for (size_t i = 0; r == 0 && i < image->layer_count; i++) {
		cleanup_with(strlist_release) struct strlist labels = STRLIST_INIT;
		cleanup_free char *name = xasprintf("containerd.io/gc.ref.content.l.%zu", i);

		add_label(&manifest, name, image->layers[i].blob.digest);
		add_label(&labels, "containerd.io/uncompressed", image->layers[i].diff_id);
		r = put_blob(containerd, &image->layers[i].blob, &labels, err);
	}
	if (image->layer_count)
		add_label(&config, "containerd.io/gc.ref.snapshot.overlayfs",
			  image->layers[image->layer_count - 1].chain_id);
	if (r == 0)
		r = put_blob(containerd, &image->config, &config, err);
	return r < 0 ? r : put_blob(containerd, &image->manifest, &manifest, err);
}

/* Replace the empty directory DIR of a snapshot by a link to the unpacked layer. */
static int link_layer(const char *dir, const char *diff_id, struct error *err)
{
	cleanup_free char *target = xasprintf(STORE "/layers/%s", diff_id);
	struct stat st;

	if (stat(target, &st) < 0)
		return error_sys(err, "cannot find layer '%s' in the store", diff_id);
	if (rmdir(dir) < 0 || symlink(target, dir) < 0)
		return error_sys(err, "cannot replace '%s' by a link", dir);
	return 0;
}

static int put_snapshot(struct containerd *containerd, const struct image_layer *layer,
			const struct image_layer *parent, struct error *err)
{
	cleanup_free char *dir = NULL;
	int r = containerd_prepare_snapshot(containerd, layer->chain_id,
					    parent ? parent->chain_id : NULL, &dir, err);

	if (r == -EEXIST) {
		error_clear(err);
		return 0;
	}
	if (r == 0)
		r = link_layer(dir, layer->diff_id, err);
	return r < 0 ? r : containerd_commit_snapshot(containerd, layer->chain_id, err);
}

/* Find the first layer of IMAGE without a snapshot.  One that is there has all below it as parents,
 * so a few questions do. */
static int find_missing(struct containerd *containerd, const struct image *image, size_t *ret,
			struct error *err)
{
	size_t low = 0;
	size_t high = image->layer_count;

	while (low < high) {
		const size_t middle = (low + high) / 2;
		int r = containerd_has_snapshot(containerd, image->layers[middle].chain_id, err);

		if (r < 0)
			return r;
		if (r > 0)
			low = middle + 1;
		else
			high = middle;
	}
	*ret = low;
	return 0;
}

static int name_image(struct containerd *containerd, const struct image *image, const char *name,
		      struct error *err)
{
	cleanup_free char *digest = xasprintf("sha256:%s", image->manifest.digest);
	struct containerd_image named = {
		.name = (char *)(uintptr_t)name,
		.type = image->manifest.type,
		.digest = digest,
		.size = image->manifest.size,
	};

	return containerd_put_image(containerd, &named, err);
}

static int install_image(struct containerd *containerd, const struct image *image,
			 struct error *err)
{
	cleanup_free char *id = xasprintf("sha256:%s", image->config.digest);
	const char *name;
	size_t from = 0;
	int r = containerd_take_lease(containerd, err);

	if (r == 0)
		r = put_blobs(containerd, image, err);
	if (r == 0)
		r = find_missing(containerd, image, &from, err);
	for (size_t i = from; r == 0 && i < image->layer_count; i++)
		r = put_snapshot(containerd, &image->layers[i], i ? &image->layers[i - 1] : NULL,
				 err);
	if (r == 0)
		r = name_image(containerd, image, id, err);
	strlist_for_each(name, &image->names)
		if (r == 0)
			r = name_image(containerd, image, name, err);
	return r;
}

static bool has_name(const struct containerd_images *have, const char *name, const char *hex)
{
	for (size_t i = 0; i < have->count; i++)
		if (strcmp(have->items[i].name, name) == 0)
			return have->items[i].managed &&
			       strncmp(have->items[i].digest, "sha256:", 7) == 0 &&
			       strcmp(have->items[i].digest + 7, hex) == 0;
	return false;
}

static bool has_blob(const char *hex)
{
	cleanup_free char *path = xasprintf(IMAGES_BLOBS "/%s", hex);

	return file_exists(path);
}

/* Whether nothing is to be done for IMAGE: 1 or 0. */
static int is_installed(struct containerd *containerd, const struct image *image,
			const struct containerd_images *have, struct error *err)
{
	cleanup_free char *id = xasprintf("sha256:%s", image->config.digest);
	const char *name;

	if (!has_name(have, id, image->manifest.digest) || !has_blob(image->manifest.digest) ||
	    !has_blob(image->config.digest))
		return 0;
	strlist_for_each(name, &image->names)
		if (!has_name(have, name, image->manifest.digest))
			return 0;
	for (size_t i = 0; i < image->layer_count; i++)
		if (!has_blob(image->layers[i].blob.digest))
			return 0;
	if (!image->layer_count)
		return 1;
	/* It has those below it as parents. */
	return containerd_has_snapshot(containerd, image->layers[image->layer_count - 1].chain_id,
				       err);
}

static int install(struct containerd *containerd, const struct image_list *wanted,
		   struct error *err)
{
	cleanup_with(
		containerd_images_release) struct containerd_images have = CONTAINERD_IMAGES_INIT;
	int dropped;
	int r;

	if (wanted->count && !file_exists(STORE))
		return error_set(err, -ENOTSUP, "the node cannot see the cluster's images");
	r = containerd_list_images(containerd, &have, err);
	for (size_t i = 0; r == 0 && i < wanted->count; i++) {
		r = is_installed(containerd, &wanted->items[i], &have, err);
		if (r == 0)
			r = install_image(containerd, &wanted->items[i], err);
		else if (r > 0)
			r = 0;
	}
	dropped = containerd_drop_lease(containerd, r == 0 ? err : NULL);
	return r < 0 ? r : dropped;
}

static const struct containerd_image *find_image(const struct containerd_images *images,
						 const char *name)
{
	for (size_t i = 0; i < images->count; i++)
		if (strcmp(images->items[i].name, name) == 0)
			return &images->items[i];
	return NULL;
}

static int tag(struct containerd *containerd, const char *from, const char *to, struct error *err)
{
	cleanup_with(
		containerd_images_release) struct containerd_images have = CONTAINERD_IMAGES_INIT;
	const struct containerd_image *found;
	struct containerd_image renamed;
	int r = containerd_list_images(containerd, &have, err);

	if (r < 0)
		return r;
	found = find_image(&have, from);
	if (!found)
		return error_set(err, -ENOENT, "there is no image '%s'", from);
	renamed = *found;
	renamed.name = (char *)(uintptr_t)to;
	renamed.pinned = false;
	return containerd_put_image(containerd, &renamed, err);
}

static bool is_id(const char *name)
{
	return strncmp(name, "sha256:", 7) == 0;
}

/* Whether an image in HAVE that is not in NAMES names DIGEST, other than by its ID. */
static bool is_named_otherwise(const struct containerd_images *have, const char *digest,
			       const struct strlist *names)
{
	for (size_t i = 0; i < have->count; i++)
		if (strcmp(have->items[i].digest, digest) == 0 && !is_id(have->items[i].name) &&
		    !strlist_has(names, have->items[i].name))
			return true;
	return false;
}

/* NAMES as far as they are in HAVE, and the IDs of images that have no name left then. */
static void choose_removals(const struct containerd_images *have, const struct strlist *names,
			    struct strlist *ret)
{
	for (size_t i = 0; i < have->count; i++) {
		const struct containerd_image *image = &have->items[i];

		if (!strlist_has(names, image->name))
			continue;
		strlist_add(ret, image->name);
		if (is_named_otherwise(have, image->digest, names))
			continue;
		for (size_t j = 0; j < have->count; j++)
			if (is_id(have->items[j].name) && !strlist_has(ret, have->items[j].name) &&
			    !strlist_has(names, have->items[j].name) &&
			    strcmp(have->items[j].digest, image->digest) == 0)
				strlist_add(ret, have->items[j].name);
	}
}

static int remove_names(struct containerd *containerd, const struct strlist *names,
			struct error *err)
{
	cleanup_with(
		containerd_images_release) struct containerd_images have = CONTAINERD_IMAGES_INIT;
	cleanup_with(strlist_release) struct strlist chosen = STRLIST_INIT;
	int r = containerd_list_images(containerd, &have, err);

	if (r < 0)
		return r;
	choose_removals(&have, names, &chosen);
	if (chosen.count == 0)
		return error_set(err, -ENOENT, "there is no image '%s'",
				 names->count ? names->items[0] : "");
	for (size_t i = 0; i < chosen.count; i++) {
		cleanup_with(error_clear) struct error why = ERROR_INIT;

		r = containerd_delete_image(containerd, chosen.items[i], i + 1 == chosen.count,
					    &why);
		if (r < 0 && r != -ENOENT)
			return error_move(err, r, &why);
	}
	return 0;
}

static int carry_out(const struct images_order *order, struct strbuf *answer, struct error *err)
{
	const struct node_images_request *request = order->request;
	cleanup_with(containerd_release) struct containerd containerd = { NULL };
	int r = containerd_open(order->grpc, clock_now_ms() + WAIT_MS, &containerd, err);

	if (r < 0)
		return r;
	switch (request->verb) {
	case NODE_IMAGES_INSTALL:
		return install(&containerd, request->wanted, err);
	case NODE_IMAGES_LIST:
		return images_look(&containerd, answer, err);
	case NODE_IMAGES_TAG:
		return tag(&containerd, request->from, request->to, err);
	case NODE_IMAGES_REMOVE:
		return remove_names(&containerd, request->names, err);
	}
	return -EINVAL;
}

int images_make_answer(struct error *err)
{
	cleanup_fd int fd = memfd_create("images", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	/* With its full size at first, as it cannot grow later. */
	if (fd < 0 || ftruncate(fd, IMAGES_ANSWER_BYTES) < 0 ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SEAL) < 0)
		return error_sys(err, "cannot create a file in memory");
	return take_fd(fd);
}

int images_write_answer(int fd, const struct strbuf *text)
{
	int r;

	if (text->len > IMAGES_ANSWER_BYTES)
		return -EMSGSIZE;
	r = file_write_all(fd, text->text, text->len);
	return r == 0 && ftruncate(fd, (off_t)text->len) < 0 ? -errno : r;
}

int images_inside(const void *arg)
{
	const struct images_order *order = arg;
	cleanup_with(error_clear) struct error err = ERROR_INIT;
	cleanup_with(strbuf_release) struct strbuf answer = STRBUF_INIT;
	int written;
	int r = carry_out(order, &answer, &err);

	if (r < 0) {
		strbuf_reset(&answer);
		strbuf_add(&answer, "error ");
		strbuf_add_printable_line(&answer, err.text ?: "", strlen(err.text ?: ""));
		strbuf_add_char(&answer, '\n');
	}
	written = images_write_answer(order->answer, &answer);
	return r < 0 ? r : written;
}
