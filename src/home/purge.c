/* Removing what is left when no cluster exists any more. */

#include "home/purge.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/log.h"
#include "base/path.h"
#include "base/strlist.h"
#include "base/user.h"
#include "host/link.h"
#include "record/profile.h"
#include "record/state.h"

typedef bool (*name_fn)(const char *name);

/* Files in `profiles` belong to a cluster, so none of them may be removed here. */
static bool is_never(arg_unused const char *name)
{
	return false;
}

static bool is_lock(const char *name)
{
	return strcmp(name, STATE_NETWORK_LOCK) == 0 || profile_check_name(name, NULL) == 0;
}

/* v1.36.3, docker-v28.5.2 and registry-v3.1.2, v1.36.3.lock beside it, and what VMs share. */
static bool is_version(const char *name)
{
	static const char digits[] = "0123456789";
	static const char *const prefixes[] = { "docker-", "registry-" };

	if (strcmp(name, "vm") == 0)
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
		if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
			name += strlen(prefixes[i]);
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

/* The contents of path_state() and path_user().  An entry with a common name is removed only if all
 * its contents are known. */
static const struct {
	const char *name;
	name_fn is_ours; /* accepts the entries that may be in it; NULL: any */
} known[] = {
	{ "profiles", is_never }, { "locks", is_lock },
	{ "cache", is_version },  { "config.json", NULL },
	{ "logs", NULL },         { "audit.json", NULL },
	{ "moving", is_never },   { STATE_OLD_CLUSTERS, NULL },
};

static bool is_known(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (strcmp(known[i].name, name) == 0)
			return true;
	return false;
}

/* The first entry of DIR that IS_OURS rejects, for the caller to free; NULL if there is none.
 * FLAGS: O_NOFOLLOW, or 0. */
static char *find_foreign(const char *dir, int flags, name_fn is_ours)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC | flags);
	cleanup_dir DIR *stream = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	while (stream && (entry = readdir(stream)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
		    !is_ours(entry->d_name))
			return xstrdup(entry->d_name);
	return NULL;
}

static void tell_stays(const char *path, const char *foreign)
{
	log_warning("'%s' is kept: '%s' in it may not belong to manykube", path, foreign);
}

static int remove_known(const char *path, const char *shown, name_fn is_ours, struct error *err)
{
	/* Only a link itself is removed, and its target may be a directory of another user. */
	cleanup_free char *foreign = is_ours ? find_foreign(path, O_NOFOLLOW, is_ours) : NULL;

	if (!foreign)
		return file_remove_tree(path, err);
	tell_stays(shown, foreign);
	return 0;
}

/* Whether A and B are the same directory. */
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
		      "'%s' cannot be purged: it has files that are not manykube's", state);
	return error_hint(err, -EINVAL,
			  "MANYKUBE_HOME is set to it; without --purge, only clusters are removed");
}

/* Remove all entries in the directory PATH that are manykube's; SHOWN is its name in messages. */
static int empty_directory(const char *path, const char *shown, struct error *err)
{
	cleanup_free char *foreign = find_foreign(path, 0, is_known);

	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		cleanup_free char *inner = xasprintf("%s/%s", path, known[i].name);
		cleanup_free char *inner_shown = xasprintf("%s/%s", shown, known[i].name);
		int r;

		if (foreign && !known[i].is_ours)
			continue;
		r = remove_known(inner, inner_shown, known[i].is_ours, err);
		if (r < 0)
			return r;
	}
	if (foreign)
		tell_stays(shown, foreign);
	return 0;
}

static int remove_empty(const char *path, struct error *err)
{
	if (rmdir(path) == 0 || errno == ENOENT || errno == ENOTEMPTY || errno == EEXIST ||
	    errno == ENOTDIR)
		return 0;
	return error_sys(err, "cannot remove '%s'", path);
}

/* Purge the user's own directory.  Parts of it may belong to root, from an earlier version.  Only
 * in a directory of the user is it certain that links do not lead to files of others. */
static int purge_user(struct error *err)
{
	cleanup_with(user_leave) struct user_rights rights = USER_RIGHTS_INIT;
	cleanup_free char *shown = NULL;
	cleanup_free char *path = NULL;
	cleanup_fd int fd = -1;
	struct stat st;
	int r = path_user(&shown, err);

	if (r < 0)
		return r;
	fd = open(shown, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		return errno == ENOENT ? 0 : error_sys(err, "cannot open '%s'", shown);
	if (st.st_uid != path_person_uid()) {
		log_warning("'%s' is kept: it belongs to user %u", shown, st.st_uid);
		return 0;
	}
	path = xasprintf("/proc/self/fd/%d", fd);
	r = empty_directory(path, shown, err);
	if (r == 0)
		r = user_enter(&rights, err);
	return r < 0 ? r : remove_empty(shown, err);
}

/* Whether another user has a cluster. */
static bool others_have_clusters(const char *own)
{
	cleanup_dir DIR *stream = opendir(MANYKUBE_STATE_DIR);
	struct dirent *entry;

	while (stream && (entry = readdir(stream))) {
		cleanup_free char *state = xasprintf(MANYKUBE_STATE_DIR "/%s", entry->d_name);
		cleanup_free char *profiles = xasprintf("%s/profiles", state);
		cleanup_free char *found = NULL;

		if (entry->d_name[0] == '.' || strcmp(state, own) == 0)
			continue;
		found = find_foreign(profiles, 0, is_never);
		if (found)
			return true;
	}
	return false;
}

/* Who else may need CACHE besides the clusters in STATE, which were deleted; NULL if unknown. */
static const char *find_other_users(const char *cache, const char *state)
{
	if (strcmp(cache, MANYKUBE_CACHE_DIR) != 0)
		return "other homes may use it, too";
	if (others_have_clusters(state))
		return "other users may use it, too";
	/* With MANYKUBE_HOME clusters can be anywhere. */
	return link_any_of_cluster() ? "a cluster of another home is running" : NULL;
}

/* Purge the cache of all users. */
static int purge_cache(const char *state, struct error *err)
{
	cleanup_free char *cache = NULL;
	const char *why;
	int r = path_cache(&cache, err);

	if (r < 0 || !file_exists(cache))
		return r;
	why = find_other_users(cache, state);
	if (!why)
		return remove_known(cache, cache, is_version, err);
	log_warning("the cache '%s' is kept: %s", cache, why);
	return 0;
}

/* Purge MANYKUBE_HOME.  The directory in MANYKUBE_CACHE may be used by other homes with running
 * clusters. */
static int purge_one_home(const char *state, struct error *err)
{
	cleanup_free char *own = xasprintf("%s/cache", state);
	cleanup_free char *cache = NULL;
	int r = path_cache(&cache, err);

	if (r < 0)
		return r;
	if (file_exists(cache) && !is_same(cache, own))
		log_warning("the cache '%s' is kept: other homes may use it", cache);
	r = empty_directory(state, state, err);
	return r < 0 ? r : remove_empty(state, err);
}

int purge(struct error *err)
{
	cleanup_free char *state = NULL;
	int r = purge_check(err);

	if (r == 0)
		r = path_state(&state, err);
	if (r < 0)
		return r;
	if (path_is_one_home())
		return purge_one_home(state, err);
	r = empty_directory(state, state, err);
	if (r == 0)
		r = remove_empty(state, err);
	if (r == 0)
		r = purge_cache(state, err);
	(void)rmdir(MANYKUBE_STATE_DIR);
	return r < 0 ? r : purge_user(err);
}
