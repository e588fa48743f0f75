/*
 * Writing container images: OCI image layouts in one archive, with one layer each.
 *
 * An image is a list of what is in it; the directories above each entry come by themselves.
 * The same contents always give the same archive, hence the same digests.
 */
#pragma once

#include <sys/types.h>

#include "base/error.h"
#include "base/strlist.h"
#include "data/sha256.h"

struct oci_entry;

struct oci_image {
	const char *name; /* registry.k8s.io/pause:3.10.2 */
	const char *arch; /* amd64, arm64, as OCI names it */
	struct strlist entrypoint;
	struct strlist command;
	struct strlist environment;

	struct oci_entry *entries; /* by oci_image_add_*() */
	size_t entry_count;
};

#define OCI_IMAGE_INIT ((struct oci_image){ NULL })

/* Paths in the image may begin with a slash.  Adding one that is there already does nothing. */
void oci_image_add_dir(struct oci_image *image, const char *path, mode_t mode);
void oci_image_add_file(struct oci_image *image, const char *path, const char *host_file,
			mode_t mode);
void oci_image_add_text(struct oci_image *image, const char *path, const char *text, mode_t mode);
void oci_image_add_link(struct oci_image *image, const char *path, const char *target);

/*
 * Write IMAGE to the file ARCHIVE, which appears only when it is complete.  RET_ID (may be NULL)
 * is the digest of its configuration, which is what container runtimes know images by.
 */
int oci_image_write(const struct oci_image *image, const char *archive,
		    char ret_id[SHA256_HEX_SIZE], struct error *err);

void oci_image_release(struct oci_image *image);

/* This machine's architecture as OCI and Go name it; NULL if it is none we know. */
const char *oci_host_arch(void);
