/* Templates: whatever is written, there is an answer or an error for people. */

#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "cli/template.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct template_field fields[] = { { "Name", "node-1" },
							{ "Host", "Running" },
							{ NULL, NULL } };
	cleanup_with(error_clear) struct error err = ERROR_INIT;
	cleanup_with(strbuf_release) struct strbuf out = STRBUF_INIT;
	cleanup_free char *text = xstrndup((const char *)data, size);

	if (template_expand(text, fields, &out, &err) < 0)
		assert(err.text && err.reason == &reason_usage);
	else if (!strstr(text, "{{"))
		assert(out.len <= strlen(text));
	return 0;
}
