/*
 * Writing ustar archives that come out the same every time: owner root, time zero.
 *
 * Members are streamed, so the size of a file does not matter (up to ustar's 8 GiB).
 * A path in the archive has no leading slash; -ENAMETOOLONG if ustar can't hold it.
 */
#pragma once

#include <sys/types.h>

#include "base/error.h"
#include "data/sha256.h"

struct tar_writer {
	int fd;                /* the caller's; written from where it stands */
	struct sha256 *digest; /* gets every byte that is written; may be NULL */
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
 * A member whose name is known only after its contents: leave room for its header, write
 * the contents (a multiple of 512 bytes) to the descriptor, and name it.  The archive
 * must be seekable and have no digest.
 */
int tar_reserve(struct tar_writer *tar, off_t *ret_header, struct error *err);
int tar_name_reserved(struct tar_writer *tar, off_t header, const char *path, uint64_t size,
		      struct error *err);

/* Write the end of the archive. */
int tar_end(struct tar_writer *tar, struct error *err);
