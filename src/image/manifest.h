/*
 * The documents of image archives: OCI's index, manifest and configuration, and Docker's
 * manifest.json.  They may be hostile: all that is taken from them is checked.
 */
#pragma once

#include <jansson.h>

#include "image/image.h"

#define MANIFEST_TYPE_INDEX    "application/vnd.oci.image.index.v1+json"
#define MANIFEST_TYPE_MANIFEST "application/vnd.oci.image.manifest.v1+json"
#define MANIFEST_TYPE_CONFIG   "application/vnd.oci.image.config.v1+json"
#define MANIFEST_TYPE_LAYER    "application/vnd.oci.image.layer.v1.tar"

/* The most bytes of a document; registries have the same limit. */
#define MANIFEST_MAX_BYTES (4u << 20)

/* The most entries of an index, also of all nested ones together. */
#define MANIFEST_INDEX_MAX 256

/* An entry of an index. */
struct manifest_entry {
	struct image_blob blob;
	char *name;          /* complete, or NULL */
	bool is_attestation; /* about an image, not an image */
};

struct manifest_index {
	struct manifest_entry *items;
	size_t count;
};

#define MANIFEST_INDEX_INIT ((struct manifest_index){ NULL })

void manifest_index_release(struct manifest_index *index);

/* An image of Docker's manifest.json; paths are those of members of the archive. */
struct manifest_docker {
	char *config;
	struct strlist names; /* complete */
	struct strlist layers;
};

struct manifest_docker_list {
	struct manifest_docker *items;
	size_t count;
};

#define MANIFEST_DOCKER_LIST_INIT ((struct manifest_docker_list){ NULL })

void manifest_docker_list_release(struct manifest_docker_list *list);

/* All of the following parse a document of LEN bytes; -EBADMSG if it is not what it should be. */

/* Whether the document is an index, as opposed to a manifest. */
bool manifest_is_index(const char *text, size_t len);

int manifest_parse_index(const char *text, size_t len, struct manifest_index *ret,
			 struct error *err);

/* Set the configuration and layers of IMAGE, which has none, but not yet diff IDs. */
int manifest_parse(const char *text, size_t len, struct image *image, struct error *err);

/* Set the architecture, diff IDs and chain IDs of IMAGE, which has as many layers. */
int manifest_parse_config(const char *text, size_t len, struct image *image, struct error *err);

/* The diff IDs in a configuration, for images that have no manifest. */
int manifest_parse_diff_ids(const char *text, size_t len, struct strlist *ret, struct error *err);

int manifest_parse_docker(const char *text, size_t len, struct manifest_docker_list *ret,
			  struct error *err);

/* The manifest of IMAGE as a document, which the caller frees. */
char *manifest_write(const struct image *image) must_check;

/* OCI's descriptor of BLOB, a new reference, and back. */
json_t *manifest_descriptor(const struct image_blob *blob);
int manifest_read_descriptor(const json_t *json, struct image_blob *ret, struct error *err);

/* Whether TEXT is a digest as image.h has them: 64 lower-case hexadecimal digits. */
bool manifest_is_hex(const char *text);

/* Whether TEXT is a short word without spaces and control characters. */
bool manifest_is_word(const char *text);
