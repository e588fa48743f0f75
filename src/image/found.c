/* The images of an archive. */

#include "image/found.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "data/decompress.h"
#include "image/manifest.h"

#define DEPTH_MAX     4
#define DOCUMENTS_MAX 2048

#define BLOB_PATH "blobs/sha256/%s"

/* Digests are computed of chunks of this size. */
#define CHUNK (1024 * 1024)

static void release_image(struct found_image *image)
{
	image_release(&image->image);
	strbuf_release(&image->manifest);
	strbuf_release(&image->config);
	strlist_release(&image->layers);
}

void found_release(struct found *found)
{
	for (size_t i = 0; i < found->count; i++)
		release_image(&found->items[i]);
	free(found->items);
	*found = FOUND_INIT;
}

static struct found_image *add_image(struct found *found)
{
	found->items = xrealloc(found->items, found->count + 1, sizeof(*found->items));
	found->items[found->count] = (struct found_image){
		.image = IMAGE_INIT,
		.manifest = STRBUF_INIT,
		.config = STRBUF_INIT,
		.layers = STRLIST_INIT,
	};
	return &found->items[found->count++];
}

static void drop_image(struct found *found, size_t i)
{
	release_image(&found->items[i]);
	memmove(&found->items[i], &found->items[i + 1],
		(--found->count - i) * sizeof(*found->items));
}

/* Read the document DIGEST of an OCI layout and verify it. */
static int read_blob(const struct archive *archive, const char *digest, struct strbuf *ret,
		     struct error *err)
{
	cleanup_free char *path = xasprintf(BLOB_PATH, digest);
	char actual[SHA256_HEX_SIZE];
	int r = archive_read(archive, path, MANIFEST_MAX_BYTES, ret, err);

	if (r < 0)
		return r;
	sha256_of(ret->text, ret->len, actual);
	if (strcmp(actual, digest) != 0)
		return error_set(err, -EBADMSG, "'%s' has the digest sha256:%s", path, actual);
	return 0;
}

/* Check what the descriptor BLOB says of a document that has LEN bytes. */
static int check_size(const struct image_blob *blob, size_t len, struct error *err)
{
	if (blob->size == len)
		return 0;
	return error_set(err, -EBADMSG,
			 "the size of sha256:%s is said to be %llu bytes, but is %zu", blob->digest,
			 (unsigned long long)blob->size, len);
}

/* Read the configuration of an image whose manifest was read. */
static int read_oci_config(const struct archive *archive, struct found_image *item,
			   struct error *err)
{
	struct image *image = &item->image;
	int r = read_blob(archive, image->config.digest, &item->config, err);

	if (r == -ENOENT)
		r = -EBADMSG;
	if (r == 0)
		r = check_size(&image->config, item->config.len, err);
	if (r == 0)
		r = manifest_parse_config(item->config.text, item->config.len, image, err);
	if (r < 0)
		return error_prefix(err, r, "the image sha256:%s", image->config.digest);
	for (size_t i = 0; i < image->layer_count; i++)
		strlist_addf(&item->layers, BLOB_PATH, image->layers[i].blob.digest);
	return 0;
}

/* Whether the archive has all layers of the image: others than the host's may be left out. */
static bool has_layers(const struct archive *archive, const struct found_image *item)
{
	const char *path;

	strlist_for_each(path, &item->layers) {
		cleanup_with(archive_part_release) struct archive_part part = ARCHIVE_PART_INIT;

		if (archive_find(archive, path, &part, NULL) < 0)
			return false;
	}
	return true;
}

static int read_index(const struct archive *archive, const struct strbuf *text, unsigned depth,
		      struct found *ret, struct error *err);

/* Add the image, or the images of the nested index, that ENTRY of an index names.  Those that the
 * archive leaves out do not count. */
static int read_entry(const struct archive *archive, const struct manifest_entry *entry,
		      unsigned depth, struct found *ret, struct error *err)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	struct found_image *item;
	int r;

	if (entry->is_attestation)
		return 0;
	/* A few indexes that name each other's contents could stand for billions. */
	if (++ret->documents > DOCUMENTS_MAX)
		return error_set(err, -EBADMSG, "the archive's indexes have too many entries");
	r = read_blob(archive, entry->blob.digest, &text, err);
	if (r == -ENOENT) {
		error_clear(err);
		return 0;
	}
	if (r < 0)
		return r;
	if (manifest_is_index(text.text, text.len))
		return read_index(archive, &text, depth + 1, ret, err);
	if (ret->count >= MANIFEST_INDEX_MAX)
		return error_set(err, -EBADMSG, "the archive has more than %d images",
				 MANIFEST_INDEX_MAX);
	item = add_image(ret);
	r = manifest_parse(text.text, text.len, &item->image, err);
	if (r == 0)
		r = check_size(&entry->blob, text.len, err);
	if (r < 0)
		return r;
	memcpy(item->image.manifest.digest, entry->blob.digest, SHA256_HEX_SIZE);
	item->image.manifest.type = xstrdup(entry->blob.type);
	item->image.manifest.size = text.len;
	item->manifest = text;
	text = STRBUF_INIT;
	return read_oci_config(archive, item, err);
}

static int read_index(const struct archive *archive, const struct strbuf *text, unsigned depth,
		      struct found *ret, struct error *err)
{
	cleanup_with(manifest_index_release) struct manifest_index index = MANIFEST_INDEX_INIT;
	int r = manifest_parse_index(text->text, text->len, &index, err);

	if (r == 0 && depth > DEPTH_MAX)
		r = error_set(err, -EBADMSG, "indexes are nested too deep");
	for (size_t i = 0; r == 0 && i < index.count; i++)
		r = read_entry(archive, &index.items[i], depth, ret, err);
	return r;
}

/* Keep the images from FIRST on that are for ARCH; if none is, the first one that is complete. */
static void choose_images(const struct archive *archive, const char *arch, size_t first,
			  struct found *found)
{
	size_t chosen = 0;

	for (size_t i = first; i < found->count; i++)
		chosen += strcmp(found->items[i].image.arch, arch) == 0;
	if (chosen > 0) {
		for (size_t i = found->count; i-- > first;)
			if (strcmp(found->items[i].image.arch, arch) != 0)
				drop_image(found, i);
		return;
	}
	for (size_t i = first; i < found->count && found->count - first > 1;)
		if (has_layers(archive, &found->items[i])) {
			while (found->count > i + 1)
				drop_image(found, found->count - 1);
			while (i > first)
				drop_image(found, --i);
		} else {
			drop_image(found, i);
		}
}

static bool is_same_image(const struct found_image *one, const struct found_image *other)
{
	return strcmp(one->image.manifest.digest, other->image.manifest.digest) == 0;
}

static void add_names(struct strlist *names, const struct strlist *more)
{
	const char *name;

	strlist_for_each(name, more)
		if (!strlist_has(names, name))
			strlist_add(names, name);
}

/* One image may have several entries, each with a name. */
static void merge_doubles(struct found *found)
{
	for (size_t i = 0; i < found->count; i++)
		for (size_t k = found->count; k-- > i + 1;) {
			if (!is_same_image(&found->items[i], &found->items[k]))
				continue;
			add_names(&found->items[i].image.names, &found->items[k].image.names);
			drop_image(found, k);
		}
}

/* The entries of index.json that have the name of entry I, or all without one, are an image for
 * several architectures. */
static int read_same_name(const struct archive *archive, const struct manifest_index *index,
			  size_t i, const char *arch, struct found *found, struct error *err)
{
	const char *name = index->items[i].name;
	size_t first = found->count;

	for (size_t k = 0; k < index->count; k++) {
		const char *other = index->items[k].name;
		bool is_same = name ? text_is(other, name) : !other;
		int r;

		if (is_same && k < i)
			return 0;
		r = is_same ? read_entry(archive, &index->items[k], 0, found, err) : 0;
		if (r < 0)
			return r;
	}
	choose_images(archive, arch, first, found);
	for (size_t k = first; name && k < found->count; k++)
		strlist_add(&found->items[k].image.names, name);
	return 0;
}

static int read_layout(const struct archive *archive, const char *arch, struct found *ret,
		       struct error *err)
{
	cleanup_with(manifest_index_release) struct manifest_index index = MANIFEST_INDEX_INIT;
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	int r = archive_read(archive, "index.json", MANIFEST_MAX_BYTES, &text, err);

	if (r == 0)
		r = manifest_parse_index(text.text, text.len, &index, err);
	for (size_t i = 0; r == 0 && i < index.count; i++)
		r = read_same_name(archive, &index, i, arch, ret, err);
	if (r < 0)
		return r;
	merge_doubles(ret);
	return 0;
}

static int hash_part(const struct archive_part *part, char ret[SHA256_HEX_SIZE], struct error *err)
{
	cleanup_with(stream_file_release) struct stream_file file = STREAM_FILE_INIT;
	cleanup_with(sha256_release) struct sha256 digest = SHA256_INIT;
	size_t len = 1;

	stream_range_open(&file, part->fd, part->offset, part->size, CHUNK);
	sha256_begin(&digest);
	while (len > 0) {
		const void *data;
		int r = file.stream.next(&file.stream, &data, &len, err);

		if (r < 0)
			return r;
		sha256_add(&digest, data, len);
	}
	sha256_end(&digest, ret);
	return 0;
}

/* Describe a layer of an image that has no manifest.  The digest of one that is not compressed is
 * its diff ID, which is verified later. */
static int describe_layer(const struct archive *archive, const char *path,
			  struct image_layer *layer, struct error *err)
{
	static const char *const suffixes[] = {
		[DECOMPRESS_PLAIN] = "",
		[DECOMPRESS_GZIP] = "+gzip",
		[DECOMPRESS_ZSTD] = "+zstd",
	};
	cleanup_with(archive_part_release) struct archive_part part = ARCHIVE_PART_INIT;
	enum decompress_kind kind;
	char head[8];
	ssize_t len;
	int r = archive_find(archive, path, &part, err);

	if (r == -ENOENT)
		return -EBADMSG;
	if (r < 0)
		return r;
	len = archive_peek(&part, head, sizeof(head));
	kind = decompress_kind_of(head, len > 0 ? (size_t)len : 0);
	layer->blob.size = part.size;
	layer->blob.type = xasprintf(MANIFEST_TYPE_LAYER "%s", suffixes[kind]);
	if (kind != DECOMPRESS_PLAIN)
		return hash_part(&part, layer->blob.digest, err);
	memcpy(layer->blob.digest, layer->diff_id, SHA256_HEX_SIZE);
	return 0;
}

static void make_manifest(struct found_image *item)
{
	struct image *image = &item->image;
	cleanup_free char *text = manifest_write(image);

	strbuf_add(&item->manifest, text);
	sha256_of(text, strlen(text), image->manifest.digest);
	image->manifest.size = strlen(text);
	image->manifest.type = xstrdup(MANIFEST_TYPE_MANIFEST);
}

/* A configuration may be called after its digest. */
static int check_config_name(const char *path, const char *digest, struct error *err)
{
	const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	cleanup_free char *hex = xstrndup(name, strcspn(name, "."));

	if (manifest_is_hex(hex) && strcmp(hex, digest) != 0)
		return error_set(err, -EBADMSG, "'%s' has the digest sha256:%s", path, digest);
	return 0;
}

static int read_docker_image(const struct archive *archive, const struct manifest_docker *docker,
			     struct found_image *item, struct error *err)
{
	struct image *image = &item->image;
	int r = archive_read(archive, docker->config, MANIFEST_MAX_BYTES, &item->config, err);

	if (r == -ENOENT)
		r = -EBADMSG;
	if (r < 0)
		return r;
	sha256_of(item->config.text, item->config.len, image->config.digest);
	r = check_config_name(docker->config, image->config.digest, err);
	if (r < 0)
		return r;
	image->config.size = item->config.len;
	image->config.type = xstrdup(MANIFEST_TYPE_CONFIG);
	image->layers = xcalloc(docker->layers.count + 1, sizeof(*image->layers));
	image->layer_count = docker->layers.count;
	r = manifest_parse_config(item->config.text, item->config.len, image, err);
	for (size_t i = 0; r == 0 && i < image->layer_count; i++) {
		strlist_add(&item->layers, docker->layers.items[i]);
		r = describe_layer(archive, docker->layers.items[i], &image->layers[i], err);
	}
	if (r < 0)
		return r;
	make_manifest(item);
	item->is_docker = true;
	return 0;
}

static struct found_image *find_by_config(const struct found *found, const char *digest)
{
	for (size_t i = 0; i < found->count; i++)
		if (strcmp(found->items[i].image.config.digest, digest) == 0)
			return &found->items[i];
	return NULL;
}

/* Add the names of manifest.json to images that index.json has, too. */
static int add_docker_names(const struct archive *archive, const struct manifest_docker *docker,
			    struct found *found, struct error *err)
{
	cleanup_with(strbuf_release) struct strbuf config = STRBUF_INIT;
	char digest[SHA256_HEX_SIZE];
	struct found_image *item;
	int r = archive_read(archive, docker->config, MANIFEST_MAX_BYTES, &config, err);

	if (r == -ENOENT) {
		error_clear(err);
		return 0;
	}
	if (r < 0)
		return r;
	sha256_of(config.text, config.len, digest);
	item = find_by_config(found, digest);
	if (item)
		add_names(&item->image.names, &docker->names);
	return 0;
}

/* Read manifest.json: all images, or names only if there is an index as well. */
static int read_docker(const struct archive *archive, bool names_only, struct found *ret,
		       struct error *err)
{
	cleanup_with(manifest_docker_list_release) struct manifest_docker_list list =
		MANIFEST_DOCKER_LIST_INIT;
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	int r = archive_read(archive, "manifest.json", MANIFEST_MAX_BYTES, &text, err);

	if (r == 0)
		r = manifest_parse_docker(text.text, text.len, &list, err);
	for (size_t i = 0; r == 0 && i < list.count; i++) {
		if (names_only) {
			r = add_docker_names(archive, &list.items[i], ret, err);
			continue;
		}
		r = read_docker_image(archive, &list.items[i], add_image(ret), err);
		if (r < 0)
			break;
		add_names(&ret->items[ret->count - 1].image.names, &list.items[i].names);
	}
	if (r == 0)
		merge_doubles(ret);
	return r;
}

/* Names of several entries may be those of one image. */
static int check_names(const struct found *found, struct error *err)
{
	for (size_t i = 0; i < found->count; i++)
		if (found->items[i].image.names.count > IMAGE_NAMES_MAX)
			return error_set(err, -EBADMSG, "an image has more than %d names",
					 IMAGE_NAMES_MAX);
	return 0;
}

static bool has_member(const struct archive *archive, const char *path)
{
	cleanup_with(archive_part_release) struct archive_part part = ARCHIVE_PART_INIT;

	return archive_find(archive, path, &part, NULL) == 0;
}

int found_read(const struct archive *archive, const char *arch, struct found *ret,
	       struct error *err)
{
	bool has_index = has_member(archive, "index.json") && has_member(archive, "oci-layout");
	bool has_docker = has_member(archive, "manifest.json");
	int r;

	if (!has_index && !has_docker)
		return error_set(err, -EINVAL, "it has neither index.json nor manifest.json");
	r = has_index ? read_layout(archive, arch, ret, err) : 0;
	if (r == 0 && has_docker)
		r = read_docker(archive, has_index && ret->count > 0, ret, err);
	if (r < 0)
		return r;
	if (ret->count == 0)
		return error_set(err, -EBADMSG, "the archive holds no image");
	return check_names(ret, err);
}
