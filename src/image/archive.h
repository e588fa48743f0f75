/*
 * An image archive as a table of members: a plain tar archive in a seekable file, or a directory
 * with an OCI layout.  Nothing but documents is kept in memory.
 */
#pragma once

#include <sys/types.h>

#include "base/error.h"
#include "base/strbuf.h"

/* The most members of an archive. */
#define ARCHIVE_MEMBERS_MAX 100000

struct archive_member {
	char *path;   /* normalized: no leading slash, no "." and ".." */
	char *target; /* of a link, normalized; otherwise NULL */
	uint64_t offset;
	uint64_t size;
};

struct archive {
	int fd; /* of the tar archive or of the directory; owned by the caller */
	bool is_dir;
	struct archive_member *members; /* of a tar archive */
	size_t count;
};

#define ARCHIVE_INIT ((struct archive){ .fd = -1 })

/* The bytes of a member. */
struct archive_part {
	int fd;
	bool is_owned; /* `fd` is closed by archive_part_release() */
	uint64_t offset;
	uint64_t size;
};

#define ARCHIVE_PART_INIT ((struct archive_part){ .fd = -1 })

/* Read the headers of the archive FD, seeking over contents; errors as of tar_reader_next(). */
int archive_scan(struct archive *archive, int fd, struct error *err);

/* Use the directory FD. */
void archive_use_dir(struct archive *archive, int fd);

/* Find the member PATH, following links within the archive; -ENOENT if there is none. */
int archive_find(const struct archive *archive, const char *path, struct archive_part *ret,
		 struct error *err);

void archive_part_release(struct archive_part *part);

/* Read the member PATH into BUF; -EBADMSG if it is larger than LIMIT. */
int archive_read(const struct archive *archive, const char *path, size_t limit, struct strbuf *buf,
		 struct error *err);

/* The first LEN bytes of PART at most; returns how many there are. */
ssize_t archive_peek(const struct archive_part *part, void *buffer, size_t len);

void archive_release(struct archive *archive);

/* PATH without empty components, "." and "..", which must not lead above the first component;
 * NULL if it does.  The caller frees it. */
char *archive_normalize(const char *path) must_check;
