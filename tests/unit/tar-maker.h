/* Tar archives in memory, also such as no program would write. */
#pragma once

#include "base/strbuf.h"

struct tar_member {
	const char *path;
	char type; /* as in the header; 0: '0' */
	const char *target;
	const char *text; /* the contents of a file */
	size_t len;       /* of the contents; 0: strlen() */
	unsigned mode;    /* 0: 0644, of directories 0755 */
	unsigned uid;
	unsigned gid;
	unsigned mtime;
	const struct strbuf *pax; /* records in front of it */
};

void tar_maker_add(struct strbuf *tar, const struct tar_member *member);

/* Add a record to those of a member. */
void tar_maker_pax(struct strbuf *records, const char *key, const char *value, size_t len);

/* Compute the checksum of the header at OFFSET again, after a change. */
void tar_maker_seal(struct strbuf *tar, size_t offset);

void tar_maker_end(struct strbuf *tar);
