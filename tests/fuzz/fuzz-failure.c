/* Words of failures: whatever is read is printed as words that are read as the same. */

#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "fail/failure.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_free char *text = xstrndup((const char *)data, size);
	cleanup_with(failure_release) struct failure failure = FAILURE_INIT;
	cleanup_with(failure_release) struct failure again = FAILURE_INIT;
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_with(failures_release) struct failures all = FAILURES_INIT;
	cleanup_free char *words = NULL;
	cleanup_free char *second = NULL;
	json_auto_t *object = NULL;

	if (failure_parse(text, &failure, NULL) < 0)
		return 0;
	assert(failure.nodes.count > 0 && failure.loss_hundredths <= 10000);
	words = failure_print(&failure);
	assert(failure_parse(words, &again, NULL) == 0 && failure_is_same(&failure, &again));
	second = failure_print(&again);
	assert(strcmp(words, second) == 0);
	object = failure_json(&failure);
	assert(object);
	failures_add(&profile, &failure);
	failures_add(&profile, &again);
	failures_read(&profile, &all);
	assert(all.count == 1);
	return 0;
}
