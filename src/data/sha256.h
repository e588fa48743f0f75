/* SHA-256 digests in lower-case hexadecimal. */
#pragma once

#include "base/error.h"

#define SHA256_HEX_SIZE 65 /* 64 digits and the NUL */

struct sha256 {
	void *context;
};

#define SHA256_INIT ((struct sha256){ NULL })

/* Begin a digest; ends the program if there is no memory. */
void sha256_begin(struct sha256 *digest);
void sha256_add(struct sha256 *digest, const void *data, size_t len);

/* Write the digest of all added data to RET_HEX and reset DIGEST. */
void sha256_end(struct sha256 *digest, char ret_hex[SHA256_HEX_SIZE]);

void sha256_release(struct sha256 *digest);

/* The digest of LEN bytes at DATA. */
void sha256_of(const void *data, size_t len, char ret_hex[SHA256_HEX_SIZE]);

/* The digest of the file PATH; -ENOENT if it is missing. */
int sha256_of_file(const char *path, char ret_hex[SHA256_HEX_SIZE], struct error *err);

/* Whether TEXT is a digest: 64 hexadecimal digits and nothing else. */
bool sha256_is_hex(const char *text);
