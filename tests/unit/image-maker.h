/* Image archives in memory. */
#pragma once

#include "base/strbuf.h"
#include "data/sha256.h"
#include "tar-maker.h"

#define MAKER_LAYERS_MAX 8

/* What an image is made of.  The digests that documents name can be changed before they are
 * written, so that they are wrong. */
struct image_maker {
	const char *arch;                              /* NULL: that of this host */
	const char *layer_type;                        /* the media type; NULL: OCI's */
	const char *name;                              /* in annotations or RepoTags; NULL: none */
	const struct strbuf *layers[MAKER_LAYERS_MAX]; /* as they are in the archive */
	char blobs[MAKER_LAYERS_MAX][SHA256_HEX_SIZE];
	char diffs[MAKER_LAYERS_MAX][SHA256_HEX_SIZE];
	size_t count;
};

/* Add a layer; PLAIN is what it is uncompressed. */
void image_maker_layer(struct image_maker *image, const struct strbuf *blob,
		       const struct strbuf *plain);

/* Add the blobs of IMAGE to the archive TAR, and its entry to the list ENTRIES of an index. */
void image_maker_oci(const struct image_maker *image, struct strbuf *tar, struct strbuf *entries);

/* Add index.json with ENTRIES, and the end of the archive. */
void image_maker_index(struct strbuf *tar, const struct strbuf *entries);

/* Make an archive of `docker save` of IMAGE, as of old versions. */
void image_maker_docker(const struct image_maker *image, struct strbuf *tar);

/* Add a blob of an OCI layout; RET_DIGEST may be NULL. */
void image_maker_blob(struct strbuf *tar, const void *data, size_t len,
		      char ret_digest[SHA256_HEX_SIZE]);

/* Write TEXT to the file NAME in the directory of the test; the caller frees its path. */
char *image_maker_write(const char *name, const struct strbuf *text);

/* TEXT compressed with the program, gzip or zstd. */
void image_maker_compress(const char *program, const struct strbuf *text, struct strbuf *ret);
