/*
 * HPACK (RFC 7541), the form of headers in HTTP/2, without a dynamic table: the peer must have been
 * told that ours has no bytes, and we use none of the peer's.
 */
#pragma once

#include <stddef.h>

#include "base/strbuf.h"

/* Append the header NAME, which is in lower case, with VALUE. */
void hpack_add(struct strbuf *block, const char *name, const char *value);

/* The bytes of a block that have not been read yet. */
struct hpack {
	const unsigned char *data;
	size_t len;
};

/*
 * Read the next header: 1, 0 at the end, -EBADMSG if the rest is damaged.  NAME is emptied if it is
 * one of HPACK's static table, VALUE if the value is too.  Neither gets more bytes than a few times
 * the length of the block.
 */
int hpack_next(struct hpack *block, struct strbuf *name, struct strbuf *value);
