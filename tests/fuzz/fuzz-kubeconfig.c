/* An edit is refused, or gives a kubeconfig with our entry in it, and without it again. */

#include "base/cleanup.h"
#include "kubeconfig/kubeconfig.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct kubeconfig_entry dev = { "dev", "https://127.0.0.1:1", "CA", "CERT",
						     "KEY" };
	static const struct kubeconfig_entry named = {
		"dev",  "https://127.0.0.1:2",
		"/a b", "/c",
		"/d",   KUBECONFIG_BY_PATH | KUBECONFIG_KEEP_CURRENT
	};
	cleanup_with(strbuf_release) struct strbuf merged = STRBUF_INIT;
	cleanup_with(strbuf_release) struct strbuf again = STRBUF_INIT;
	cleanup_with(strbuf_release) struct strbuf removed = STRBUF_INIT;
	cleanup_with(error_clear) struct error err = ERROR_INIT;

	(void)kubeconfig_remove_text((const char *)data, size, "one", &removed, &err);
	if (kubeconfig_merge_text((const char *)data, size, &dev, &merged, &err) < 0)
		return 0;
	if (kubeconfig_merge_text(merged.text, merged.len, &dev, &again, NULL) < 0)
		abort();
	strbuf_reset(&again);
	if (kubeconfig_merge_text(merged.text, merged.len, &named, &again, NULL) < 0)
		abort();
	strbuf_reset(&removed);
	(void)kubeconfig_remove_text(merged.text, merged.len, "dev", &removed, NULL);
	return 0;
}
