/* Lists of CPUs: what is taken for one is printed as one that reads the same. */

#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "cgroup/cpus.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_free char *text = xstrndup((const char *)data, size);
	cleanup_with(cpus_release) struct cpus cpus = CPUS_INIT;
	cleanup_with(cpus_release) struct cpus again = CPUS_INIT;
	cleanup_free char *printed = NULL;

	if (cpus_parse(text, &cpus) < 0)
		return 0;
	printed = cpus_print(&cpus);
	assert(cpus_parse(printed, &again) == 0 && again.count == cpus.count);
	for (size_t i = 0; i < cpus.count; i++)
		assert(again.ids[i] == cpus.ids[i]);
	return 0;
}
