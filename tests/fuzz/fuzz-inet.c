/* Subnets in words: whatever is read must print as it was written. */

#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "data/inet.h"
#include "data/inet6.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_with(error_clear) struct error err = ERROR_INIT;
	cleanup_free char *text = xstrndup((const char *)data, size);
	struct subnet subnet;
	struct in_addr address;
	struct subnet6 subnet6;
	struct in6_addr address6;

	if (inet_parse_subnet(text, &subnet, &err) == 0) {
		cleanup_free char *printed = inet_print_subnet(&subnet);

		assert(strcmp(printed, text) == 0);
		assert(inet_nth_address(&subnet, 0, &address, NULL) == 0);
		assert(inet_contains(&subnet, address));
	}
	if (inet_parse_address(text, &address, &err) == 0) {
		cleanup_free char *printed = inet_print_address(address);

		assert(strcmp(printed, text) == 0);
	}
	if (inet6_parse_subnet(text, &subnet6, NULL) == 0) {
		cleanup_free char *printed = inet6_print_subnet(&subnet6);

		assert(strcmp(printed, text) == 0);
		assert(inet6_contains(&subnet6, &subnet6.address));
	}
	if (inet6_parse_address(text, &address6, NULL) == 0) {
		cleanup_free char *printed = inet6_print_address(&address6);

		assert(strcmp(printed, text) == 0);
	}
	return 0;
}
