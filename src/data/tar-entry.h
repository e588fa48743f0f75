/*
 * Headers of members of tar archives as they are on disk, for archives that are sent elsewhere:
 * names, link targets and sizes of any length, with PAX records where ustar has no room.
 */
#pragma once

#include <sys/types.h>

#include "base/strbuf.h"

struct tar_entry {
	const char *path;   /* without a leading slash; a directory's ends with one */
	const char *target; /* of a link; NULL otherwise */
	char type;          /* TAR_FILE and so on */
	mode_t mode;        /* only the permissions count */
	uint64_t size;      /* of a file's contents */
	int64_t mtime;
};

#define TAR_FILE      '0'
#define TAR_HARD_LINK '1'
#define TAR_LINK      '2'
#define TAR_DIRECTORY '5'
#define TAR_FIFO      '6'

/* Add ENTRY's header to OUT.  The contents follow, padded to a multiple of 512 bytes. */
void tar_print_entry(struct strbuf *out, const struct tar_entry *entry);

/* Add the zeros that follow contents of SIZE bytes. */
void tar_print_padding(struct strbuf *out, uint64_t size);

/* Add the end of an archive. */
void tar_print_end(struct strbuf *out);

/* Whether the LEN bytes at DATA begin a tar archive, perhaps a compressed one (gzip, bzip2, xz,
 * zstd). */
bool tar_is_archive(const char *data, size_t len);
