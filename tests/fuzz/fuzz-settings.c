/* Settings that can be read can be written and read again. */

#include <string.h>

#include "base/cleanup.h"
#include "data/settings.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_with(settings_release) struct settings settings = SETTINGS_INIT;
	cleanup_with(settings_release) struct settings again = SETTINGS_INIT;
	cleanup_with(error_clear) struct error err = ERROR_INIT;
	cleanup_free char *text = NULL;

	if (settings_parse((const char *)data, size, &settings, &err) < 0)
		return 0;
	text = settings_print(&settings);
	if (settings_parse(text, strlen(text), &again, NULL) < 0 || again.count != settings.count)
		abort();
	return 0;
}
