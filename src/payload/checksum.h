/* Published checksum files: the output of sha256sum, or only the digest. */
#pragma once

#include "base/error.h"
#include "data/sha256.h"

/*
 * Find the digest of the file NAME in the LEN bytes at TEXT and store it in lower case in RET_HEX.
 * A digest without a name counts if it is the only line.  -EBADMSG if there is no digest, or two
 * different ones.
 */
int checksum_find(const char *text, size_t len, const char *name, char ret_hex[SHA256_HEX_SIZE],
		  struct error *err);
