/* Paths of state, settings, cache and programs. */

#include "base/path.h"

#include <limits.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/parse.h"

/* The id in VARIABLE, which sudo sets; false if we are not root or it is not set. */
static bool sudo_id(const char *variable, unsigned *ret)
{
	const char *text = getenv(variable);
	unsigned long long id;

	if (geteuid() != 0 || !text || parse_number(text, 1, UINT_MAX - 1, &id, NULL) < 0)
		return false;
	*ret = (unsigned)id;
	return true;
}

uid_t path_person_uid(void)
{
	unsigned id;

	return sudo_id("SUDO_UID", &id) ? id : geteuid();
}

gid_t path_person_gid(void)
{
	unsigned id;

	return sudo_id("SUDO_GID", &id) ? id : getegid();
}

int path_home(char **ret_path, struct error *err)
{
	const char *home = getenv("HOME");
	struct passwd *person;
	unsigned id;

	if (sudo_id("SUDO_UID", &id)) {
		person = getpwuid(id);
		if (person && person->pw_dir && person->pw_dir[0] == '/')
			home = person->pw_dir;
	}
	if (!home || home[0] != '/') {
		person = getpwuid(geteuid());
		home = person ? person->pw_dir : NULL;
	}
	if (!home || home[0] != '/') {
		(void)error_because(err, &reason_host_config, -ENOENT,
				    "cannot find the home directory: HOME is not set");
		return error_hint(err, -ENOENT,
				  "set HOME, or MANYKUBE_HOME to a directory for the clusters");
	}
	*ret_path = xstrdup(home);
	return 0;
}

static int from_environment(const char *variable, char **ret_path, struct error *err)
{
	const char *value = getenv(variable);

	if (!value || !*value)
		return 0;
	if (value[0] != '/')
		return error_because(err, &reason_usage, -EINVAL,
				     "%s is '%s', which is not an absolute path", variable, value);
	*ret_path = xstrdup(value);
	return 1;
}

bool path_is_one_home(void)
{
	const char *value = getenv("MANYKUBE_HOME");

	return value && *value;
}

int path_user(char **ret_path, struct error *err)
{
	cleanup_free char *home = NULL;
	int r = from_environment("MANYKUBE_HOME", ret_path, err);

	if (r != 0)
		return r < 0 ? r : 0;
	r = path_home(&home, err);
	if (r < 0)
		return r;
	*ret_path = xasprintf("%s/.manykube", home);
	return 0;
}

int path_state(char **ret_path, struct error *err)
{
	int r = from_environment("MANYKUBE_HOME", ret_path, err);

	if (r == 0)
		*ret_path = xasprintf(MANYKUBE_STATE_DIR "/%u", path_person_uid());
	return MIN(r, 0);
}

int path_cache(char **ret_path, struct error *err)
{
	cleanup_free char *home = NULL;
	int r = from_environment("MANYKUBE_CACHE", ret_path, err);

	if (r != 0)
		return r < 0 ? r : 0;
	r = from_environment("MANYKUBE_HOME", &home, err);
	if (r >= 0)
		*ret_path = home ? xasprintf("%s/cache", home) : xstrdup(MANYKUBE_CACHE_DIR);
	return MIN(r, 0);
}

int path_libexec(char **ret_path, struct error *err)
{
	cleanup_free char *agent = NULL;
	char self[PATH_MAX];
	ssize_t len;
	int r = from_environment("MANYKUBE_LIBEXEC", ret_path, err);

	if (r != 0)
		return r < 0 ? r : 0;
	len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	if (len < 0)
		return error_sys(err, "cannot find our own program");
	self[len] = '\0';
	*strrchr(self, '/') = '\0';
	agent = xasprintf("%s/manykube-agent", self);
	*ret_path = file_exists(agent) ? xstrdup(self)
				       : xasprintf("%s/%s", self, MANYKUBE_LIBEXEC_DIR);
	return 0;
}

const char *path_last_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

bool path_is_dots(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

char *path_itself(void)
{
	const char *named = getenv("MANYKUBE_SELF");
	char path[PATH_MAX];
	ssize_t len;

	if (named)
		return xstrdup(named);
	len = readlink("/proc/self/exe", path, sizeof(path) - 1);
	if (len > 0) {
		path[len] = '\0';
		if (access(path, X_OK) == 0)
			return xstrdup(path);
	}
	return xstrdup("/proc/self/exe");
}
