#include "base/cleanup.h"
#include "payload/checksum.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_with(error_clear) struct error err = ERROR_INIT;
	char hex[SHA256_HEX_SIZE];

	if (checksum_find((const char *)data, size, "etcd.tar.gz", hex, &err) == 0)
		assert(sha256_is_hex(hex));
	return 0;
}
