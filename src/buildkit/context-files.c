/* Walking through a directory under the rules of its .dockerignore. */

#include "buildkit/context-files.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"

struct walk {
	int root;
	const char *shown;
	const struct dockerignore *ignore;
	const char *always;
	struct strlist *found;
};

/* A directory on the way to the current one. */
struct level {
	const struct level *above;
	const char *path; /* NULL: the root */
	bool *matched;    /* by pattern */
	bool *is_added;   /* to the paths that were found */
};

static int walk_directory(const struct walk *walk, const struct level *level, struct error *err);

/* Add the names in the directory PATH to RET, sorted. */
static int list_names(const struct walk *walk, const char *path, struct strlist *ret,
		      struct error *err)
{
	cleanup_dir DIR *dir = NULL;
	const struct dirent *entry;
	int fd = openat(walk->root, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd >= 0)
		dir = fdopendir(fd);
	if (!dir) {
		int r = error_sys(err, "cannot read the directory '%s/%s'", walk->shown, path);

		if (fd >= 0)
			(void)close(fd);
		return r;
	}
	for (errno = 0; (entry = readdir(dir)); errno = 0)
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			strlist_add(ret, entry->d_name);
	if (errno)
		return error_sys(err, "cannot read the directory '%s/%s'", walk->shown, path);
	strlist_sort(ret);
	return 0;
}

/* Add the directory of LEVEL, after those above it, unless that was done. */
static void add_level(const struct walk *walk, const struct level *level)
{
	if (!level->path || *level->is_added)
		return;
	add_level(walk, level->above);
	strlist_add(walk->found, level->path);
	*level->is_added = true;
}

/* Whether the walk must go on to ALWAYS in the directory PATH. */
static bool leads_to(const char *path, const char *always)
{
	size_t len = strlen(path);

	return always && strncmp(always, path, len) == 0 && always[len] == '/';
}

/* Look at PATH in the directory of LEVEL. */
static int walk_path(const struct walk *walk, const struct level *level, const char *path,
		     struct error *err)
{
	cleanup_free bool *matched = xcalloc(walk->ignore->count + 1, sizeof(bool));
	bool is_added = false;
	const struct level below = { level, path, matched, &is_added };
	bool is_ignored = dockerignore_match(walk->ignore, path, level->matched, matched);
	bool is_wanted = !is_ignored || (walk->always && strcmp(path, walk->always) == 0);
	struct stat st;

	if (!is_wanted && !leads_to(path, walk->always) &&
	    !dockerignore_excepts_below(walk->ignore, path))
		return 0;
	if (fstatat(walk->root, path, &st, AT_SYMLINK_NOFOLLOW) < 0) {
		/* Files come and go in a directory that is in use. */
		if (errno == ENOENT || !is_wanted)
			return 0;
		return error_sys(err, "cannot examine '%s/%s'", walk->shown, path);
	}
	if (is_wanted && !S_ISSOCK(st.st_mode)) {
		add_level(walk, level);
		strlist_add(walk->found, path);
		is_added = true;
	}
	return S_ISDIR(st.st_mode) ? walk_directory(walk, &below, err) : 0;
}

static int walk_directory(const struct walk *walk, const struct level *level, struct error *err)
{
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	const char *name;
	int r = list_names(walk, level->path ? level->path : ".", &names, err);

	if (r < 0)
		return r;
	strlist_for_each(name, &names) {
		cleanup_free char *path = level->path ? xasprintf("%s/%s", level->path, name)
						      : xstrdup(name);

		r = walk_path(walk, level, path, err);
		if (r < 0)
			return r;
	}
	return 0;
}

int context_files_list(int root, const char *shown, const struct dockerignore *ignore,
		       const char *always, struct strlist *ret, struct error *err)
{
	const struct walk walk = { root, shown, ignore, always, ret };
	const struct level top = { NULL };

	return walk_directory(&walk, &top, err);
}
