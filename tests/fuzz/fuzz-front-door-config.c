#include "balancer/balancer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct balancer_config config = BALANCER_CONFIG_INIT;
	struct error err = ERROR_INIT;

	if (balancer_config_parse((const char *)data, size, &config, &err) < 0)
		assert(err.text);
	balancer_config_release(&config);
	error_clear(&err);
	return 0;
}
