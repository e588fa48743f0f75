#include "balancer/probe.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	bool must_close;
	int status = probe_parse_answer((const char *)data, size, &must_close);

	assert(status == -EINVAL || (status >= 0 && status <= 999));
	return 0;
}
