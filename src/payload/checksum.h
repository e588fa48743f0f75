/* Published checksum files: what sha256sum prints, or just the digest. */
#pragma once

#include "base/error.h"
#include "data/sha256.h"

/*
 * Find the digest of the file NAME in the LEN bytes at TEXT, lower-case, into RET_HEX.
 * A digest without a name counts if nothing else is there.  -EBADMSG if there is none, or
 * two that differ.
 */
int checksum_find(const char *text, size_t len, const char *name, char ret_hex[SHA256_HEX_SIZE],
		  struct error *err);
