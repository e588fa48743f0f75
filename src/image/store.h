/*
 * The store of a cluster's images; image.h describes what is in it.
 *
 * STORE is the path of its directory, in a directory that only root can enter.  Callers that change
 * a store hold the cluster's lock.  A command that is killed leaves at most a directory
 * incoming.XXXXXX, which the next one removes, and complete blobs and layers that no image needs.
 * Blobs and layers are not synced, like those of containerd's snapshotter: if the machine loses
 * power in the minute after, they may have to be loaded again.
 */
#pragma once

#include "image/image.h"

/* An archive to be read. */
struct image_source {
	int fd;            /* a file, a pipe, or the directory of an OCI layout */
	const char *shown; /* what errors call it */
	uint64_t reserve;  /* bytes that stay free on the disk; 0: see room.h */

	/* Called now and then while layers are read; may be NULL. */
	void (*progress)(void *arg, uint64_t done, uint64_t total);

	const struct strlist *nodes; /* the nodes that the images are for; NULL: all */

	/* Called for each image that was read, with the images that the store has, before the store
	 * is changed; a failure is that of image_store_add().  May be NULL. */
	int (*accept)(void *arg, const struct image_list *held, const struct image *image,
		      struct error *err);
	/* Whether IMAGE is already where it belongs under NAME, without the store; may be NULL. */
	bool (*is_there)(void *arg, const struct image *image, const char *name);
	void *arg;
};

/*
 * Add the images of SOURCE: archives of `docker save` and OCI layouts in tar, plain or compressed
 * with gzip or zstd, or an OCI layout in a directory.  A name that another image has moves to the
 * new one.  Layers of images in the store are not read again.  RET_ADDED are the images of the
 * archive with the names they have there; it is set on success.  An image for another architecture
 * is added with a warning.
 *
 * -EINVAL with reason_usage if SOURCE is not an image archive, -ENOSPC with reason_storage if the
 * disk would be full, another code with reason_image if the archive is damaged or hostile.  The
 * store is unchanged then.
 */
int image_store_add(const char *store, const struct image_source *source,
		    struct image_list *ret_added, struct error *err);

/* Read the list of images; empty if there is no store. */
int image_store_read(const char *store, struct image_list *ret, struct error *err);

/* Whether LIST can be that of a store: -EINVAL with reason_usage if an image has too many names. */
int image_store_check(const struct image_list *list, struct error *err);

/* Replace the list of images.  The store has all blobs and layers of those in LIST.  -EINVAL as of
 * image_store_check(), or -E2BIG, if it could not be read again; it is unchanged then. */
int image_store_write(const char *store, const struct image_list *list, struct error *err);

/* Remove blobs and layers that no image needs and that are not in KEPT (may be NULL), digests of
 * blobs and diff IDs of layers, and what killed commands left. */
int image_store_clean(const char *store, const struct strlist *kept, struct error *err);

/* Write IMAGES, which the store has, to FD, which need not be seekable, as an OCI layout in tar
 * that `docker load` accepts, too. */
int image_store_export(const char *store, const struct image_list *images, int fd,
		       struct error *err);

/* The path of a blob or of an unpacked layer in STORE; the caller frees it. */
char *image_store_blob(const char *store, const struct image_blob *blob) must_check;
char *image_store_layer(const char *store, const struct image_layer *layer) must_check;
