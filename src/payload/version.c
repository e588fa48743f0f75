/* Supported Kubernetes versions, and resolving versions given by users. */

#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/strlist.h"
#include "payload/component.h"
#include "payload/payload.h"

#define VERSIONS_MAX 32

const char *const *payload_versions(void)
{
	static const char *versions[VERSIONS_MAX + 1];
	size_t count = 0;

	for (const struct release *release = releases; release->version; release++) {
		assert(count < VERSIONS_MAX);
		versions[count++] = release->version;
	}
	return versions;
}

/* Whether NUMBER (1.36 or 1.36.3) names VERSION (v1.36.3). */
static bool names(const char *number, const char *version)
{
	size_t len = strlen(number);

	return len >= 3 && strchr(number, '.') && strncmp(version + 1, number, len) == 0 &&
	       (version[1 + len] == '\0' || version[1 + len] == '.');
}

int payload_resolve_version(const char *text, const char **ret_version, struct error *err)
{
	cleanup_with(strlist_release) struct strlist all = STRLIST_INIT;
	cleanup_free char *known = NULL;
	const char *number = text[0] == 'v' ? text + 1 : text;

	if (strcmp(text, "stable") == 0 || strcmp(text, "latest") == 0) {
		*ret_version = releases[0].version;
		return 0;
	}
	for (const struct release *release = releases; release->version; release++) {
		if (names(number, release->version)) {
			*ret_version = release->version;
			return 0;
		}
		strlist_add(&all, release->version);
	}
	known = strlist_join(&all, ", ");
	return error_because(err, &reason_version_unsupported, -EINVAL,
			     "Kubernetes version '%s' is not supported; supported: %s", text,
			     known);
}
