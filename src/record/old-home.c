/* Clusters in the place where an earlier version kept them. */

#include "record/old-home.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "record/state.h"

#define RECORD_LIMIT (1 << 20)

/* The paths in STATE/old-clusters; -ENOENT without that file. */
static int read_old_clusters(struct strlist *ret)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_free char *state = NULL;
	cleanup_free char *path = NULL;
	int r = path_state(&state, NULL);

	if (r < 0)
		return r;
	path = xasprintf("%s/" STATE_OLD_CLUSTERS, state);
	r = file_read(path, RECORD_LIMIT, &text, NULL);
	if (r == 0)
		strlist_split(ret, text.text, '\n');
	return r;
}

/* For users without a state directory.  They are not root, so they act with their own rights only.
 */
static void list_in_home(struct strlist *ret)
{
	cleanup_free char *user = NULL;
	cleanup_free char *profiles = NULL;
	cleanup_dir DIR *dir = NULL;
	struct dirent *entry;

	if (path_user(&user, NULL) < 0)
		return;
	profiles = xasprintf("%s/profiles", user);
	dir = opendir(profiles);
	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			strlist_addf(ret, "%s/%s", profiles, entry->d_name);
}

/* The paths of all clusters in the user's home that may be used. */
static void list_paths(struct strlist *ret)
{
	cleanup_free char *state = NULL;
	cleanup_free char *user = NULL;
	cleanup_free char *profiles = NULL;

	if (path_is_one_home() || path_state(&state, NULL) < 0)
		return;
	if (!file_exists(state) && geteuid() != 0) {
		list_in_home(ret);
		return;
	}
	if (!file_exists(state)) {
		/* Before root acts on any cluster there, state_ensure() records which of them to
		 * trust. */
		if (path_user(&user, NULL) < 0)
			return;
		profiles = xasprintf("%s/profiles", user);
		free(take_ptr(state));
		if (!file_exists(profiles) || state_ensure(&state, NULL) < 0)
			return;
	}
	(void)read_old_clusters(ret);
}

char *old_home_recorded(const char *name)
{
	cleanup_with(strlist_release) struct strlist paths = STRLIST_INIT;
	const char *path;

	list_paths(&paths);
	strlist_for_each(path, &paths)
		if (*path == '/' && strcmp(path_last_name(path), name) == 0)
			return xstrdup(path);
	return NULL;
}

char *old_home_moving(const char *name)
{
	cleanup_free char *state = NULL;

	if (path_is_one_home() || path_state(&state, NULL) < 0)
		return NULL;
	return xasprintf("%s/moving/%s", state, name);
}

/* A link in the place of a cluster is none: its user may have put it there while root moved it. */
static bool is_directory(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

char *old_home_find(const char *name)
{
	cleanup_free char *moving = old_home_moving(name);
	cleanup_free char *path = NULL;

	if (moving && is_directory(moving))
		return take_ptr(moving);
	path = moving ? old_home_recorded(name) : NULL;
	return path && is_directory(path) ? take_ptr(path) : NULL;
}

void old_home_list(struct strlist *ret_names)
{
	cleanup_with(strlist_release) struct strlist paths = STRLIST_INIT;
	const char *path;

	list_paths(&paths);
	strlist_for_each(path, &paths) {
		cleanup_free char *found = NULL;

		if (profile_check_name(path_last_name(path), NULL) == 0)
			found = old_home_find(path_last_name(path));
		if (found && !strlist_has(ret_names, path_last_name(path)))
			strlist_add(ret_names, path_last_name(path));
	}
}

int old_home_forget(const char *name, struct error *err)
{
	cleanup_with(strlist_release) struct strlist paths = STRLIST_INIT;
	cleanup_with(strbuf_release) struct strbuf left = STRBUF_INIT;
	cleanup_free char *state = NULL;
	cleanup_free char *record = NULL;
	const char *path;
	int r = path_state(&state, err);

	if (r < 0 || read_old_clusters(&paths) < 0)
		return r;
	strlist_for_each(path, &paths)
		if (*path && strcmp(path_last_name(path), name) != 0)
			strbuf_addf(&left, "%s\n", path);
	record = xasprintf("%s/" STATE_OLD_CLUSTERS, state);
	return file_replace(record, left.len ? left.text : "", left.len, 0644, err);
}
