/* go.mod files, and what ldd prints: both are read line by line. */
#include "base/alloc.h"
#include "base/cleanup.h"
#include "payload/gomod.h"
#include "payload/libraries.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_with(strbuf_release) struct strbuf out = STRBUF_INIT;
	cleanup_with(strlist_release) struct strlist paths = STRLIST_INIT;
	cleanup_free char *text = xstrndup((const char *)data, size);
	cleanup_free char *version = gomod_go_version(text);

	gomod_wrap_kubernetes(text, "v1.36.3", &out);
	(void)gomod_compare_versions(version ? version : text, "1.26.0");
	(void)libraries_parse(text, &paths, NULL);
	return 0;
}
