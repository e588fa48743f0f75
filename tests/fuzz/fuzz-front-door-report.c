/* What a hostile worker could tell the keeper: nothing but its own backends comes out. */
#include <string.h>

#include "balancer/report.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct balancer_config config = BALANCER_CONFIG_INIT;
	struct error err = ERROR_INIT;
	json_t *backends = NULL;
	json_t *item;
	size_t i;

	balancer_config_add_backend(&config, "node-1", "10.89.0.2:6443");
	balancer_config_add_backend(&config, "node-2", "10.89.0.3:6443");
	if (report_parse((const char *)data, size, &config, &backends, &err) < 0) {
		assert(err.text && !backends);
	} else {
		assert(json_array_size(backends) == 2);
		json_array_foreach(backends, i, item) {
			const char *detail = json_string_value(json_object_get(item, "detail"));

			assert(strcmp(json_string_value(json_object_get(item, "name")),
				      config.backends[i].name) == 0);
			assert(detail && strlen(detail) <= REPORT_DETAIL_MAX);
		}
		json_decref(backends);
	}
	error_clear(&err);
	balancer_config_release(&config);
	return 0;
}
