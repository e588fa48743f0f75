/*
 * Writing container images: an OCI image layout with one layer, in one archive.
 *
 * An image is a list of entries; their parent directories are added automatically.  Archives are
 * reproducible: the same contents give the same digests.
 */
#pragma once

#include <sys/types.h>

#include "base/error.h"
#include "base/strlist.h"
#include "data/sha256.h"

struct oci_entry;

struct oci_image {
	const char *name; /* registry.k8s.io/pause:3.10.2 */
	const char *arch; /* in OCI's terms: amd64, arm64 */
	struct strlist entrypoint;
	struct strlist command;
	struct strlist environment;

	struct oci_entry *entries; /* added by oci_image_add_*() */
	size_t entry_count;
};

#define OCI_IMAGE_INIT ((struct oci_image){ NULL })

/* Paths in the image may begin with a slash.  Adding a path again does nothing. */
void oci_image_add_dir(struct oci_image *image, const char *path, mode_t mode);
void oci_image_add_file(struct oci_image *image, const char *path, const char *host_file,
			mode_t mode);
void oci_image_add_text(struct oci_image *image, const char *path, const char *text, mode_t mode);
void oci_image_add_link(struct oci_image *image, const char *path, const char *target);

/*
 * Write IMAGE to the file ARCHIVE, which appears only when it is complete.  RET_ID (may be NULL) is
 * the digest of its configuration, which container runtimes use as the image's id.
 */
int oci_image_write(const struct oci_image *image, const char *archive,
		    char ret_id[SHA256_HEX_SIZE], struct error *err);

void oci_image_release(struct oci_image *image);

/* This machine's architecture in the terms of OCI and Go; NULL if it is not supported. */
const char *oci_host_arch(void);
