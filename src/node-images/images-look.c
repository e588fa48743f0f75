/*
 * Looking at a node's images.  The lines of an answer:
 *
 *	image NAME DIGEST CONFIG SIZE FLAGS    CONFIG may be "-"; FLAGS: "-", or of "m" and "p"
 *	blob HEX                               a link to this blob of the store
 *	layer HEX                              a link to this layer of the store
 */
#include "node-images/images-look.h"

#include <dirent.h>
#include <jansson.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "driver/driver.h"

#define MANIFEST_BYTES (4 << 20)

/* Not a node's path; file descriptions of images say more, but nobody writes so many. */
#define PARTS_MOST 1000

struct contents {
	char config[SHA256_HEX_SIZE];
	uint64_t size;
};

/* The digits of the digest TEXT; NULL if it is not SHA-256. */
static const char *hex_of(const char *text)
{
	if (!text || strncmp(text, "sha256:", 7) != 0 || !sha256_is_hex(text + 7))
		return NULL;
	return text + 7;
}

static json_t *read_manifest(const char *hex)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_free char *path = xasprintf(IMAGES_BLOBS "/%s", hex);

	if (file_read(path, MANIFEST_BYTES, &text, NULL) < 0)
		return NULL;
	return json_loadb(text.text, text.len, 0, NULL);
}

static const char *digest_in(const json_t *descriptor)
{
	return hex_of(json_string_value(json_object_get(descriptor, "digest")));
}

/* Add the size of what DESCRIPTOR describes. */
static void add_size(const json_t *descriptor, struct contents *contents)
{
	json_int_t size = json_integer_value(json_object_get(descriptor, "size"));

	/* Sums stay far below the limit of the type. */
	if (size > 0 && size < (json_int_t)1 << 50)
		contents->size += (uint64_t)size;
}

static void add_manifest(const json_t *manifest, struct contents *contents)
{
	const json_t *config = json_object_get(manifest, "config");
	const json_t *layers = json_object_get(manifest, "layers");
	const char *hex = digest_in(config);

	if (hex)
		(void)snprintf(contents->config, sizeof(contents->config), "%s", hex);
	add_size(config, contents);
	for (size_t i = 0; i < MIN(json_array_size(layers), (size_t)PARTS_MOST); i++)
		add_size(json_array_get(layers, i), contents);
}

/* The first manifest of an index that the node has. */
static void add_index(const json_t *manifests, struct contents *contents)
{
	for (size_t i = 0; i < MIN(json_array_size(manifests), (size_t)PARTS_MOST); i++) {
		const json_t *descriptor = json_array_get(manifests, i);
		const char *hex = digest_in(descriptor);
		json_t *manifest = hex ? read_manifest(hex) : NULL;

		if (!manifest)
			continue;
		add_size(descriptor, contents);
		add_manifest(manifest, contents);
		json_decref(manifest);
		return;
	}
}

static void add_contents(const char *hex, struct contents *contents)
{
	json_t *manifest = read_manifest(hex);
	const json_t *manifests = json_object_get(manifest, "manifests");

	if (json_is_array(manifests))
		add_index(manifests, contents);
	else
		add_manifest(manifest, contents);
	json_decref(manifest);
}

static void tell_image(const struct containerd_image *image, struct strbuf *answer)
{
	struct contents contents = { .size = image->size };
	const char *hex = hex_of(image->digest);

	/* Such names are not for the kubelet. */
	if (!hex || !*image->name || strpbrk(image->name, " \n"))
		return;
	add_contents(hex, &contents);
	strbuf_addf(answer, "image %s %s %s %llu %s%s%s\n", image->name, hex,
		    *contents.config ? contents.config : "-", (unsigned long long)contents.size,
		    image->managed ? "m" : "", image->pinned ? "p" : "",
		    image->managed || image->pinned ? "" : "-");
}

/* Tell of PATH as a WORD if it is a link to NAME in the directory PLACE of the store. */
static void tell_link(const char *path, const char *place, const char *word, struct strbuf *answer)
{
	char target[256];
	ssize_t len = readlink(path, target, sizeof(target) - 1);
	const char *name;

	if (len <= 0)
		return;
	target[len] = 0;
	name = strncmp(target, place, strlen(place)) == 0 ? target + strlen(place) : NULL;
	if (name && sha256_is_hex(name))
		strbuf_addf(answer, "%s %s\n", word, name);
}

static int tell_links(const char *path, const char *below, const char *place, const char *word,
		      struct strbuf *answer, struct error *err)
{
	cleanup_dir DIR *dir = opendir(path);
	const struct dirent *entry;

	if (!dir)
		return errno == ENOENT ? 0 : error_sys(err, "cannot open '%s'", path);
	while ((entry = readdir(dir))) {
		cleanup_free char *link = xasprintf("%s/%s%s", path, entry->d_name, below);

		tell_link(link, place, word, answer);
	}
	return 0;
}

int images_look(struct containerd *containerd, struct strbuf *answer, struct error *err)
{
	cleanup_with(
		containerd_images_release) struct containerd_images images = CONTAINERD_IMAGES_INIT;
	int r = containerd_list_images(containerd, &images, err);

	if (r < 0)
		return r;
	for (size_t i = 0; i < images.count; i++)
		tell_image(&images.items[i], answer);
	r = tell_links(IMAGES_BLOBS, "", NODE_SHARED_DIR "/images/blobs/", "blob", answer, err);
	if (r < 0)
		return r;
	return tell_links(IMAGES_SNAPSHOTS, "/fs", NODE_SHARED_DIR "/images/layers/", "layer",
			  answer, err);
}
