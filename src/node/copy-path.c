/* Paths that are copied, as text. */

#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "node/copy-path.h"

char *copy_last_name(const char *path)
{
	size_t end = strlen(path);
	size_t start;
	cleanup_free char *name = NULL;

	while (end > 0 && path[end - 1] == '/')
		end--;
	for (start = end; start > 0 && path[start - 1] != '/'; start--)
		;
	name = xstrndup(path + start, end - start);
	if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return xstrdup("");
	return take_ptr(name);
}

char *copy_directory_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return xstrdup(".");
	return slash == path ? xstrdup("/") : xstrndup(path, (size_t)(slash - path));
}
