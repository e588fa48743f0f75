/* Removing what is left when there is no cluster any more. */

#include "cluster/purge.h"

#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/log.h"
#include "base/path.h"
#include "base/strlist.h"
#include "cluster/profile.h"

typedef bool (*name_fn)(const char *name);

/* Profiles must be gone: what is left there belongs to a cluster. */
static bool is_never(arg_unused const char *name)
{
	return false;
}

static bool is_lock(const char *name)
{
	return profile_check_name(name, NULL) == 0;
}

/* v1.36.3, and v1.36.3.lock beside it. */
static bool is_version(const char *name)
{
	static const char digits[] = "0123456789";

	if (*name++ != 'v')
		return false;
	for (int dots = 0; dots < 2; dots++) {
		size_t len = strspn(name, digits);

		if (len == 0 || name[len] != '.')
			return false;
		name += len + 1;
	}
	return strspn(name, digits) > 0;
}

/* What the state folder has; a name that others use, too, is ours only if all around it is. */
static const struct {
	const char *name;
	name_fn is_ours; /* what may be in it; NULL: anything */
} known[] = {
	{ "profiles", is_never }, { "locks", is_lock }, { "cache", is_version },
	{ "config.json", NULL },  { "logs", NULL },     { "audit.json", NULL },
};

static bool is_known(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (strcmp(known[i].name, name) == 0)
			return true;
	return false;
}

/* The first in FOLDER that IS_OURS denies, for the caller to free; NULL if there is none. */
static char *find_foreign(const char *folder, name_fn is_ours)
{
	cleanup_dir DIR *dir = opendir(folder);
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
		    !is_ours(entry->d_name))
			return xstrdup(entry->d_name);
	return NULL;
}

static int remove_known(const char *path, name_fn is_ours, struct error *err)
{
	cleanup_free char *foreign = is_ours ? find_foreign(path, is_ours) : NULL;

	if (!foreign)
		return file_remove_tree(path, err);
	log_warning("'%s' stays: '%s' in it is not known to be manykube's", path, foreign);
	return 0;
}

/* Whether both are the same folder. */
static bool is_same(const char *a, const char *b)
{
	struct stat one, two;

	return stat(a, &one) == 0 && stat(b, &two) == 0 && one.st_dev == two.st_dev &&
	       one.st_ino == two.st_ino;
}

int purge_check(struct error *err)
{
	cleanup_free char *state = NULL;
	cleanup_free char *home = NULL;
	int r = path_state(&state, err);

	if (r < 0)
		return r;
	if (!is_same(state, "/") && (path_home(&home, NULL) < 0 || !is_same(state, home)))
		return 0;
	error_because(err, &reason_usage, -EINVAL,
		      "'%s' can't be purged: it is not manykube's alone", state);
	return error_hint(err, -EINVAL,
			  "MANYKUBE_HOME names it; without --purge only clusters are removed");
}

int purge(struct error *err)
{
	cleanup_free char *state = NULL;
	cleanup_free char *cache = NULL;
	cleanup_free char *foreign = NULL;
	cleanup_free char *own = NULL;
	int r = purge_check(err);

	if (r == 0)
		r = path_state(&state, err);
	if (r == 0)
		r = path_cache(&cache, err);
	if (r < 0)
		return r;
	/* The folder that MANYKUBE_CACHE names may serve other homes, with running clusters. */
	own = xasprintf("%s/cache", state);
	if (file_exists(cache) && !is_same(cache, own))
		log_warning("the cache '%s' stays: other homes may use it, too", cache);
	foreign = find_foreign(state, is_known);
	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		cleanup_free char *path = xasprintf("%s/%s", state, known[i].name);

		if (!file_exists(path) || (foreign && !known[i].is_ours))
			continue;
		r = remove_known(path, known[i].is_ours, err);
		if (r < 0)
			return r;
	}
	if (rmdir(state) == 0 || errno == ENOENT)
		return 0;
	if (errno != ENOTEMPTY && errno != EEXIST)
		return error_sys(err, "cannot remove '%s'", state);
	log_warning("'%s' stays: '%s' in it is not known to be manykube's", state,
		    foreign ? foreign : "something");
	return 0;
}
