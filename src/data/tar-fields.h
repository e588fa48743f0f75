/* The fields of tar headers and PAX records; pure functions for data/tar-read.c. */
#pragma once

#include "data/tar-block.h"
#include "data/tar-read.h"

/* 1 if HEADER's checksum is right, 0 if it is a block of zeros, else -EBADMSG. */
int tar_header_check(const struct tar_block *header);

int tar_header_size(const struct tar_block *header, uint64_t *ret, struct error *err);

/* Set RET, which is empty, to what HEADER says; -EBADMSG, -EOPNOTSUPP for sparse files. */
int tar_header_decode(const struct tar_block *header, struct tar_entry *ret, struct error *err);

struct tar_pax {
	char *path;
	char *target;
	bool has_size;
	bool has_uid;
	bool has_gid;
	bool has_mtime;
	uint64_t size;
	uint64_t uid;
	uint64_t gid;
	int64_t mtime;
	unsigned mtime_ns;
	struct tar_xattr *xattrs;
	size_t xattr_count;
};

/* Add the records in LEN bytes at TEXT to PAX. */
int tar_pax_parse(const char *text, size_t len, struct tar_pax *pax, struct error *err);

void tar_pax_release(struct tar_pax *pax);
