/*
 * The images of an archive, before their layers are read: which there are, what they are called,
 * and where the bytes of their layers are.
 */
#pragma once

#include "base/strbuf.h"
#include "image/archive.h"
#include "image/image.h"

struct found_image {
	struct image image;
	struct strbuf manifest; /* the documents as they are stored */
	struct strbuf config;
	struct strlist layers; /* the member of each layer */
	bool is_docker;        /* the archive has no manifest of it: this one was made */
};

struct found {
	struct found_image *items;
	size_t count;
	unsigned documents; /* that were read, which is bounded */
};

#define FOUND_INIT ((struct found){ NULL })

/*
 * Find the images of ARCHIVE for the architecture ARCH.  Where an index has an image for several
 * architectures, the one for ARCH is taken, or else the first one that is complete.  The digests of
 * documents are verified, those of layers are not.  -EINVAL if ARCHIVE holds no images at all,
 * -EBADMSG if one is damaged.
 */
int found_read(const struct archive *archive, const char *arch, struct found *ret,
	       struct error *err);

void found_release(struct found *found);
