/*
 * Writing reproducible ustar archives: every member is owned by root and has time zero.
 *
 * Members are streamed, so memory use does not depend on their size (ustar's limit is 8 GiB).
 * Paths in the archive have no leading slash; -ENAMETOOLONG if ustar cannot hold one.
 */
#pragma once

#include <sys/types.h>

#include "base/error.h"
#include "data/sha256.h"

struct tar_writer {
	int fd;                /* owned by the caller; written at its current offset */
	struct sha256 *digest; /* updated with every byte written; may be NULL */
	uint64_t bytes;        /* written so far */
};

int tar_add_dir(struct tar_writer *tar, const char *path, mode_t mode, struct error *err);
int tar_add_link(struct tar_writer *tar, const char *path, const char *target, struct error *err);
int tar_add_data(struct tar_writer *tar, const char *path, const void *data, size_t len,
		 mode_t mode, struct error *err);

/* Add the contents of the host's FILE (links followed). */
int tar_add_file(struct tar_writer *tar, const char *path, const char *file, mode_t mode,
		 struct error *err);

/*
 * Add a member whose name is known only after its contents: reserve its header, write the contents
 * (a multiple of 512 bytes) to the descriptor, then name it.  The archive must be seekable and have
 * no digest.
 */
int tar_reserve(struct tar_writer *tar, off_t *ret_header, struct error *err);
int tar_name_reserved(struct tar_writer *tar, off_t header, const char *path, uint64_t size,
		      struct error *err);

/* Write the end of the archive. */
int tar_end(struct tar_writer *tar, struct error *err);
