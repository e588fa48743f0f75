/*
 * Reading tar archives: v7, ustar, GNU's long names and binary numbers, PAX.
 *
 * Archives may be hostile.  The reader checks and bounds everything in headers, but paths are
 * passed on as they are: "../x" and "/x" are for the caller to judge.  Sparse files are refused.
 */
#pragma once

#include "data/stream.h"

enum tar_type {
	TAR_FILE,
	TAR_HARD_LINK,
	TAR_SYMLINK,
	TAR_CHAR_DEVICE,
	TAR_BLOCK_DEVICE,
	TAR_DIR,
	TAR_FIFO,
};

struct tar_xattr {
	char *name;
	char *value; /* any bytes */
	size_t len;
};

struct tar_entry {
	enum tar_type type;
	char *path;   /* not empty, shorter than PATH_MAX, as in the archive */
	char *target; /* of a link: the same; otherwise "" */
	mode_t mode;  /* the lower 12 bits */
	uint64_t uid;
	uint64_t gid;
	uint64_t size; /* of a file; otherwise 0 */
	int64_t mtime;
	unsigned mtime_ns;
	struct tar_xattr *xattrs;
	size_t xattr_count;
};

#define TAR_ENTRY_INIT ((struct tar_entry){ .path = NULL })

struct tar_reader {
	struct stream *stream;
	struct tar_entry entry;
	const uint8_t *chunk; /* what is left of the stream's chunk */
	size_t chunk_len;
	uint64_t offset;  /* in the archive, of the next byte to be consumed */
	uint64_t left;    /* bytes of the entry that were not consumed */
	uint64_t padding; /* after them */
	bool ended;
};

#define TAR_READER_INIT ((struct tar_reader){ .stream = NULL })

void tar_reader_open(struct tar_reader *reader, struct stream *stream);

/*
 * Go to the next entry, past what is left of the current one.  Returns 1 and sets RET_ENTRY, which
 * is valid until the next call, or 0 at the end.  -EINVAL if the stream does not begin as an
 * archive does (or has no byte at all), -EBADMSG if it is damaged or truncated.
 */
int tar_reader_next(struct tar_reader *reader, const struct tar_entry **ret_entry,
		    struct error *err);

/* Set RET_DATA to the next bytes of the entry, valid until the next call; RET_LEN is 0 at its
 * end. */
int tar_reader_data(struct tar_reader *reader, const void **ret_data, size_t *ret_len,
		    struct error *err);

void tar_reader_release(struct tar_reader *reader);
