/* A profile that can be read can be written and read again. */

#include <string.h>

#include "base/cleanup.h"
#include "record/profile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_with(profile_release) struct profile again = PROFILE_INIT;
	cleanup_with(error_clear) struct error err = ERROR_INIT;
	cleanup_free char *text = NULL;

	if (profile_parse((const char *)data, size, &profile, &err) < 0)
		return 0;
	text = profile_print(&profile);
	if (profile_parse(text, strlen(text), &again, NULL) < 0)
		abort();
	return 0;
}
