/* Writing container images. */

#include "image/oci.h"

#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "data/tar.h"
#include "data/words.h"

#define TYPE_INDEX    "application/vnd.oci.image.index.v1+json"
#define TYPE_MANIFEST "application/vnd.oci.image.manifest.v1+json"
#define TYPE_CONFIG   "application/vnd.oci.image.config.v1+json"
#define TYPE_LAYER    "application/vnd.oci.image.layer.v1.tar"

enum entry_kind {
	ENTRY_DIR,
	ENTRY_FILE,
	ENTRY_TEXT,
	ENTRY_LINK,
};

struct oci_entry {
	enum entry_kind kind;
	char *path;   /* without a leading slash */
	char *source; /* a file of the host, the text, or the link's target */
	mode_t mode;
};

/* A blob of the layout: its digest and its size. */
struct blob {
	char digest[SHA256_HEX_SIZE];
	uint64_t size;
};

static bool has_entry(const struct oci_image *image, const char *path)
{
	for (size_t i = 0; i < image->entry_count; i++)
		if (strcmp(image->entries[i].path, path) == 0)
			return true;
	return false;
}

static void add_entry(struct oci_image *image, enum entry_kind kind, const char *path,
		      const char *source, mode_t mode)
{
	while (*path == '/')
		path++;
	if (!*path || has_entry(image, path))
		return;
	for (const char *p = strchr(path, '/'); p; p = strchr(p + 1, '/')) {
		cleanup_free char *above = xstrndup(path, (size_t)(p - path));

		if (!has_entry(image, above))
			add_entry(image, ENTRY_DIR, above, "", 0755);
	}
	image->entries = xrealloc(image->entries, image->entry_count + 1, sizeof(*image->entries));
	image->entries[image->entry_count++] = (struct oci_entry){
		.kind = kind,
		.path = xstrdup(path),
		.source = xstrdup(source),
		.mode = mode,
	};
}

void oci_image_add_dir(struct oci_image *image, const char *path, mode_t mode)
{
	add_entry(image, ENTRY_DIR, path, "", mode);
}

void oci_image_add_file(struct oci_image *image, const char *path, const char *host_file,
			mode_t mode)
{
	add_entry(image, ENTRY_FILE, path, host_file, mode);
}

void oci_image_add_text(struct oci_image *image, const char *path, const char *text, mode_t mode)
{
	add_entry(image, ENTRY_TEXT, path, text, mode);
}

void oci_image_add_link(struct oci_image *image, const char *path, const char *target)
{
	add_entry(image, ENTRY_LINK, path, target, 0777);
}

void oci_image_release(struct oci_image *image)
{
	for (size_t i = 0; i < image->entry_count; i++) {
		free(image->entries[i].path);
		free(image->entries[i].source);
	}
	free(image->entries);
	strlist_release(&image->entrypoint);
	strlist_release(&image->command);
	strlist_release(&image->environment);
	*image = OCI_IMAGE_INIT;
}

static int add_to_layer(struct tar_writer *layer, const struct oci_entry *entry, struct error *err)
{
	switch (entry->kind) {
	case ENTRY_DIR:
		return tar_add_dir(layer, entry->path, entry->mode, err);
	case ENTRY_FILE:
		return tar_add_file(layer, entry->path, entry->source, entry->mode, err);
	case ENTRY_TEXT:
		return tar_add_data(layer, entry->path, entry->source, strlen(entry->source),
				    entry->mode, err);
	case ENTRY_LINK:
		return tar_add_link(layer, entry->path, entry->source, err);
	}
	return 0;
}

/* Write the layer, an archive within the archive.  It is written before its name, which is its
 * digest, is known. */
static int write_layer(const struct oci_image *image, struct tar_writer *archive,
		       struct blob *ret_layer, struct error *err)
{
	cleanup_with(sha256_release) struct sha256 digest = SHA256_INIT;
	cleanup_free char *path = NULL;
	struct tar_writer layer = { .fd = archive->fd, .digest = &digest };
	off_t header = 0;
	int r = tar_reserve(archive, &header, err);

	sha256_begin(&digest);
	for (size_t i = 0; r == 0 && i < image->entry_count; i++)
		r = add_to_layer(&layer, &image->entries[i], err);
	if (r == 0)
		r = tar_end(&layer, err);
	if (r < 0)
		return r;
	sha256_end(&digest, ret_layer->digest);
	ret_layer->size = layer.bytes;
	path = xasprintf("blobs/sha256/%s", ret_layer->digest);
	return tar_name_reserved(archive, header, path, layer.bytes, err);
}

/* Write JSON as a blob, or as the member PATH if that is given. */
static int write_json(struct tar_writer *archive, const json_t *json, const char *path,
		      struct blob *ret_blob, struct error *err)
{
	cleanup_free char *text = json_dumps(json, JSON_COMPACT);
	cleanup_free char *blob_path = NULL;
	struct blob blob;

	if (!text)
		return error_set(err, -EINVAL, "cannot write an image description as JSON");
	blob.size = strlen(text);
	sha256_of(text, (size_t)blob.size, blob.digest);
	blob_path = xasprintf("blobs/sha256/%s", blob.digest);
	if (ret_blob)
		*ret_blob = blob;
	return tar_add_data(archive, path ? path : blob_path, text, (size_t)blob.size, 0644, err);
}

static json_t *json_from_blob(const char *type, const struct blob *blob)
{
	cleanup_free char *digest = xasprintf("sha256:%s", blob->digest);

	return json_pack("{s:s, s:s, s:I}", "mediaType", type, "digest", digest, "size",
			 (json_int_t)blob->size);
}

static json_t *make_config(const struct oci_image *image, const struct blob *layer)
{
	cleanup_free char *diff = xasprintf("sha256:%s", layer->digest);
	json_t *run = json_object();

	if (image->entrypoint.count)
		(void)json_object_set_new(run, "Entrypoint", words_to_json(&image->entrypoint));
	if (image->command.count)
		(void)json_object_set_new(run, "Cmd", words_to_json(&image->command));
	(void)json_object_set_new(run, "Env", words_to_json(&image->environment));
	return json_pack("{s:s, s:s, s:s, s:o, s:{s:s, s:[s]}}", "created", "1970-01-01T00:00:00Z",
			 "architecture", image->arch, "os", "linux", "config", run, "rootfs",
			 "type", "layers", "diff_ids", diff);
}

static json_t *make_index(const struct oci_image *image, const struct blob *manifest)
{
	const char *colon = strrchr(image->name, ':');
	json_t *entry = json_from_blob(TYPE_MANIFEST, manifest);

	(void)json_object_set_new(
		entry, "platform",
		json_pack("{s:s, s:s}", "architecture", image->arch, "os", "linux"));
	(void)json_object_set_new(entry, "annotations",
				  json_pack("{s:s, s:s}", "io.containerd.image.name", image->name,
					    "org.opencontainers.image.ref.name",
					    colon ? colon + 1 : "latest"));
	return json_pack("{s:i, s:s, s:[o]}", "schemaVersion", 2, "mediaType", TYPE_INDEX,
			 "manifests", entry);
}

static int write_layout(const struct oci_image *image, struct tar_writer *archive,
			char ret_id[SHA256_HEX_SIZE], struct error *err)
{
	static const char layout[] = "{\"imageLayoutVersion\":\"1.0.0\"}";
	json_auto_t *config_json = NULL;
	json_auto_t *manifest_json = NULL;
	json_auto_t *index_json = NULL;
	struct blob layer = { 0 };
	struct blob config = { 0 };
	struct blob manifest = { 0 };
	int r = tar_add_data(archive, "oci-layout", layout, strlen(layout), 0644, err);

	if (r == 0)
		r = write_layer(image, archive, &layer, err);
	if (r < 0)
		return r;
	config_json = make_config(image, &layer);
	r = write_json(archive, config_json, NULL, &config, err);
	if (r < 0)
		return r;
	manifest_json = json_pack("{s:i, s:s, s:o, s:[o]}", "schemaVersion", 2, "mediaType",
				  TYPE_MANIFEST, "config", json_from_blob(TYPE_CONFIG, &config),
				  "layers", json_from_blob(TYPE_LAYER, &layer));
	r = write_json(archive, manifest_json, NULL, &manifest, err);
	if (r < 0)
		return r;
	index_json = make_index(image, &manifest);
	r = write_json(archive, index_json, "index.json", NULL, err);
	if (r == 0)
		r = tar_end(archive, err);
	if (r == 0)
		memcpy(ret_id, config.digest, sizeof(config.digest));
	return r;
}

int oci_image_write(const struct oci_image *image, const char *archive,
		    char ret_id[SHA256_HEX_SIZE], struct error *err)
{
	char id[SHA256_HEX_SIZE];
	cleanup_free char *temp = xasprintf("%s.new", archive);
	cleanup_fd int fd = open(temp, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	struct tar_writer tar = { .fd = fd };
	int r;

	if (fd < 0)
		return error_sys(err, "cannot create '%s'", temp);
	r = write_layout(image, &tar, id, err);
	if (r == 0 && rename(temp, archive) < 0)
		r = error_sys(err, "cannot rename to '%s'", archive);
	if (r < 0) {
		(void)unlink(temp);
		return error_prefix(err, r, "image '%s'", image->name);
	}
	if (ret_id)
		memcpy(ret_id, id, sizeof(id));
	return 0;
}

const char *oci_host_arch(void)
{
	struct utsname host;

	if (uname(&host) < 0)
		return NULL;
	if (strcmp(host.machine, "x86_64") == 0)
		return "amd64";
	if (strcmp(host.machine, "aarch64") == 0)
		return "arm64";
	return NULL;
}
