/* The first line is a path, the rest a .dockerignore. */

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "data/dockerignore.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_with(dockerignore_release) struct dockerignore ignore = DOCKERIGNORE_INIT;
	cleanup_free char *text = xstrndup((const char *)data, size);
	size_t path_len = strcspn(text, "\n");
	const char *rules = text[path_len] ? text + path_len + 1 : "";
	cleanup_free bool *matched = NULL;
	cleanup_free bool *below = NULL;
	cleanup_free char *path = NULL;
	bool is_ignored;

	if (dockerignore_parse("file", rules, strlen(rules), &ignore, NULL) < 0)
		return 0;
	text[path_len] = '\0';
	matched = xcalloc(ignore.count + 1, sizeof(bool));
	below = xcalloc(ignore.count + 1, sizeof(bool));
	is_ignored = dockerignore_match(&ignore, text, NULL, matched);
	(void)dockerignore_excepts_below(&ignore, text);
	path = xasprintf("%s/below", text);
	/* Without exceptions, nothing comes back. */
	if (is_ignored && !strchr(rules, '!') && !dockerignore_match(&ignore, path, matched, below))
		abort();
	return 0;
}
