/*
 * Container images of users: what is known about one, and the store of a cluster that holds them.
 *
 * A store is a directory that all nodes of the cluster can read as NODE_SHARED_DIR/images, and that
 * only root can write:
 *
 *	blobs/HEX    manifest, configuration and layers as the archive had them, by SHA-256 digest
 *	layers/HEX   a layer unpacked for overlayfs, by its diff ID: owners, modes and times are
 *	             those of the layer, whiteouts and opaque directories are overlayfs' own
 *	images.json  the list of images
 *
 * A blob or a layer is complete or absent: it is made in incoming.XXXXXX and renamed.  Blobs and
 * layers that no image needs are removed by image_store_clean().
 */
#pragma once

#include <jansson.h>

#include "base/error.h"
#include "base/strlist.h"
#include "data/sha256.h"

/* Contents by digest, as in OCI's descriptors. */
struct image_blob {
	char digest[SHA256_HEX_SIZE]; /* without "sha256:" */
	char *type;                   /* the media type */
	uint64_t size;
};

struct image_layer {
	struct image_blob blob;
	char diff_id[SHA256_HEX_SIZE];  /* of the uncompressed layer */
	char chain_id[SHA256_HEX_SIZE]; /* of this layer and those below it, as containerd names
					 * its snapshots */
};

struct image {
	struct strlist names;       /* full names: docker.io/library/app:latest */
	struct image_blob manifest; /* of one platform, never an index */
	struct image_blob config;
	struct image_layer *layers; /* the lowest first */
	size_t layer_count;
	char *arch; /* in OCI's terms: amd64, arm64 */

	/* The nodes that have it under these names.  A list may have the same contents several
	 * times, for different nodes, but has each name once. */
	struct strlist nodes;  /* empty: all, also those that will be added */
	struct strlist except; /* but not these */
};

#define IMAGE_INIT ((struct image){ .names = STRLIST_INIT })

struct image_list {
	struct image *items;
	size_t count;
};

#define IMAGE_LIST_INIT ((struct image_list){ NULL })

/* The most layers of an image: more than overlayfs can mount. */
#define IMAGE_LAYERS_MAX 500

/* The most names of an image. */
#define IMAGE_NAMES_MAX 256

void image_release(struct image *image);
void image_list_release(struct image_list *list);

/* Add an empty image to LIST; the result is valid until the next call. */
struct image *image_list_add(struct image_list *list);

/* Whether TEXT, "sha256:" and at least 12 digits, begins the digest of the configuration or of the
 * manifest of IMAGE: people see either as its ID. */
bool image_has_id(const struct image *image, const char *text);

/* The image that TEXT names: a name, which need not be complete, or its ID (image_has_id()); NULL
 * if LIST has no such image. */
struct image *image_list_find(const struct image_list *list, const char *text);

/* Let item I have the complete NAME, and no other image.  An image that loses its only name leaves
 * the list.  Returns the new index of the item. */
size_t image_list_name(struct image_list *list, size_t i, const char *name);

/* Take NAME from the image that has it; false if none has.  An image that loses its only name
 * leaves the list. */
bool image_list_unname(struct image_list *list, const char *name);

/* Whether IMAGE is for the node called NODE. */
bool image_is_for(const struct image *image, const char *node);

/* Let the contents of IMAGE, which need not be in LIST, have the complete NAME (NULL: none) on the
 * nodes called NODES (NULL: all), and stay what they are on others that have them by that name.
 * Other contents lose the name. */
void image_list_give(struct image_list *list, const struct image *image, const char *name,
		     const struct strlist *nodes);

/* Take NAME from the nodes called NODES, of the nodes called ALL that there are; or, if NAME is
 * NULL, all names that item I has.  What no node has any more leaves the list. */
void image_list_take(struct image_list *list, size_t i, const char *name,
		     const struct strlist *nodes, const struct strlist *all);

/* Remove item I. */
void image_list_remove(struct image_list *list, size_t i);

/* Compute the chain IDs of IMAGE's layers from their diff IDs. */
void image_set_chain(struct image *image);

/* What has been verified of LAYER once it is in a store, as a word: its blob with its size, its
 * contents, and the layers below it.  The caller frees it. */
char *image_layer_place(const struct image_layer *layer) must_check;

/* IMAGE as JSON, a new reference, and back; -EBADMSG if JSON is not an image. */
json_t *image_to_json(const struct image *image);
int image_from_json(const json_t *json, struct image *ret, struct error *err);

/* The bytes of its configuration and layers as the archive had them. */
uint64_t image_size(const struct image *image);
