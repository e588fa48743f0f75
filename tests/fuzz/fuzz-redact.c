/* Text that secrets are taken out of, and lines of logs and of the audit. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "look/audit.h"
#include "look/bundle.h"
#include "look/logs.h"
#include "probe/probe.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_with(strbuf_release) struct strbuf out = STRBUF_INIT;
	cleanup_with(audit_list_release) struct audit_list list = AUDIT_LIST_INIT;
	cleanup_free char *text = xstrndup((const char *)data, size);
	cleanup_with(strbuf_release) struct strbuf told = STRBUF_INIT;
	cleanup_with(strbuf_release) struct strbuf shown = STRBUF_INIT;
	cleanup_with(strlist_release) struct strlist values = STRLIST_INIT;

	strbuf_add_printable(&shown, (const char *)data, size);
	for (size_t i = 0; i < shown.len; i++)
		if ((unsigned char)shown.text[i] < ' ' && !strchr("\n\t", shown.text[i]))
			abort();
	strlist_split(&values, text, '\n');
	bundle_hide(&shown, &values);
	(void)probe_judge_firewalls(text, false, &told);
	bundle_redact((const char *)data, size, &out);
	audit_parse((const char *)data, size, &list);
	(void)cluster_log_is_problem(text, strlen(text));
	(void)probe_kernel_is_new(text);
	(void)probe_has_capability(text, 24);
	return 0;
}
