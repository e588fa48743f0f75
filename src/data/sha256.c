/* SHA-256 digests. */

#include "data/sha256.h"

#include <fcntl.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"

#define CHUNK (256 * 1024)

void sha256_begin(struct sha256 *digest)
{
	sha256_release(digest);
	digest->context = EVP_MD_CTX_new();
	if (!digest->context || EVP_DigestInit_ex(digest->context, EVP_sha256(), NULL) != 1)
		abort();
}

void sha256_add(struct sha256 *digest, const void *data, size_t len)
{
	if (EVP_DigestUpdate(digest->context, data, len) != 1)
		abort();
}

void sha256_end(struct sha256 *digest, char ret_hex[SHA256_HEX_SIZE])
{
	static const char digits[] = "0123456789abcdef";
	unsigned char raw[EVP_MAX_MD_SIZE];
	unsigned len = 0;

	if (EVP_DigestFinal_ex(digest->context, raw, &len) != 1 || len != 32)
		abort();
	for (unsigned i = 0; i < len; i++) {
		ret_hex[2 * i] = digits[raw[i] >> 4];
		ret_hex[2 * i + 1] = digits[raw[i] & 15];
	}
	ret_hex[SHA256_HEX_SIZE - 1] = '\0';
	sha256_release(digest);
}

void sha256_release(struct sha256 *digest)
{
	EVP_MD_CTX_free(digest->context);
	*digest = SHA256_INIT;
}

void sha256_of(const void *data, size_t len, char ret_hex[SHA256_HEX_SIZE])
{
	cleanup_with(sha256_release) struct sha256 digest = SHA256_INIT;

	sha256_begin(&digest);
	sha256_add(&digest, data, len);
	sha256_end(&digest, ret_hex);
}

int sha256_of_file(const char *path, char ret_hex[SHA256_HEX_SIZE], struct error *err)
{
	cleanup_with(sha256_release) struct sha256 digest = SHA256_INIT;
	cleanup_free char *chunk = xmalloc(CHUNK);
	cleanup_fd int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return error_sys(err, "cannot open '%s'", path);
	sha256_begin(&digest);
	for (;;) {
		ssize_t len = read(fd, chunk, CHUNK);

		if (len < 0 && errno == EINTR)
			continue;
		if (len < 0)
			return error_sys(err, "cannot read '%s'", path);
		if (len == 0)
			break;
		sha256_add(&digest, chunk, (size_t)len);
	}
	sha256_end(&digest, ret_hex);
	return 0;
}

bool sha256_is_hex(const char *text)
{
	return strlen(text) == SHA256_HEX_SIZE - 1 &&
	       strspn(text, "0123456789abcdefABCDEF") == SHA256_HEX_SIZE - 1;
}
