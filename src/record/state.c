/* The state directory of a user's clusters, which belongs to root. */

#include "record/state.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/log.h"
#include "base/path.h"
#include "base/strbuf.h"
#include "base/user.h"

static int need_root(const char *state, struct error *err)
{
	(void)error_because(err, &reason_not_root, -EPERM,
			    "clusters are stored in '%s', which only root may change", state);
	return error_hint(err, -EPERM, "run the command as root, for instance with sudo");
}

/* Create a directory with exactly MODE, whatever the umask. */
static int make_root_directory(const char *path, mode_t mode, struct error *err)
{
	if (mkdir(path, mode) == 0 && chmod(path, mode) == 0)
		return 0;
	return errno == EEXIST ? 0 : error_sys(err, "cannot create the directory '%s'", path);
}

static bool is_roots_directory(int fd, const char *path)
{
	struct stat st;

	return fstatat(fd, path, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode) &&
	       st.st_uid == 0 && !(st.st_mode & 022);
}

const char *state_distrust(int fd)
{
	/* The directory that only a node's driver creates, now and in earlier versions. */
	static const char *const marks[] = { "usr-work", "tree/usr-work" };
	int nodes = openat(fd, "nodes", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	cleanup_dir DIR *dir = nodes < 0 ? NULL : fdopendir(nodes);
	bool is_made = false;
	struct dirent *entry;

	/* In root's own home, root created everything. */
	if (path_person_uid() == 0)
		return NULL;
	while (dir && (entry = readdir(dir))) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (!is_roots_directory(nodes, entry->d_name))
			return "a node in it does not belong to root";
		for (size_t i = 0; i < ARRAY_SIZE(marks); i++) {
			cleanup_free char *mark = xasprintf("%s/%s", entry->d_name, marks[i]);

			is_made |= is_roots_directory(nodes, mark);
		}
	}
	return is_made ? NULL : "it has no node that root created";
}

/* Append a line with the path of each cluster in the user's home that root created. */
static void list_old_clusters(struct strbuf *out)
{
	cleanup_with(user_leave) struct user_rights rights = USER_RIGHTS_INIT;
	cleanup_free char *user = NULL;
	cleanup_free char *profiles = NULL;
	cleanup_dir DIR *dir = NULL;
	struct dirent *entry;
	struct stat st;

	if (path_user(&user, NULL) < 0 || user_enter(&rights, NULL) < 0)
		return;
	profiles = xasprintf("%s/profiles", user);
	dir = opendir(profiles);
	if (!dir || fstat(dirfd(dir), &st) < 0 || st.st_uid != path_person_uid())
		return;
	/* Back to root, because the user may not enter directories of nodes.  Links are not
	 * followed from here on. */
	user_leave(&rights);
	while ((entry = readdir(dir))) {
		cleanup_fd int fd = -1;
		const char *why;

		if (entry->d_name[0] == '.' || strchr(entry->d_name, '\n'))
			continue;
		fd = openat(dirfd(dir), entry->d_name,
			    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		why = fd < 0 ? "it is not a directory" : state_distrust(fd);
		if (why)
			log_warning("ignoring the cluster '%s/%s': %s", profiles, entry->d_name,
				    why);
		else
			strbuf_addf(out, "%s/%s\n", profiles, entry->d_name);
	}
}

/* Fill the directory FRESH and rename it to STATE, unless STATE was created meanwhile. */
static int make_state(const char *fresh, const char *state, struct error *err)
{
	cleanup_with(strbuf_release) struct strbuf old = STRBUF_INIT;
	cleanup_free char *record = xasprintf("%s/" STATE_OLD_CLUSTERS, fresh);
	int r = make_root_directory(fresh, 0700, err);

	list_old_clusters(&old);
	if (r == 0)
		r = file_replace(record, old.len ? old.text : "", old.len, 0644, err);
	if (r == 0)
		r = user_may_read(fresh, err);
	if (r == 0 && renameat2(AT_FDCWD, fresh, AT_FDCWD, state, RENAME_NOREPLACE) < 0 &&
	    errno != EEXIST)
		r = error_sys(err, "cannot create the directory '%s'", state);
	return r;
}

int state_ensure(char **ret_path, struct error *err)
{
	cleanup_free char *state = NULL;
	cleanup_free char *fresh = NULL;
	int r = path_state(&state, err);

	if (r == 0 && path_is_one_home())
		r = user_make_directory(state, err);
	else if (r == 0 && !file_exists(state)) {
		if (geteuid() != 0)
			return need_root(state, err);
		fresh = xasprintf("%s.new.%d", state, (int)getpid());
		r = file_make_dirs(MANYKUBE_STATE_DIR, 0755, err);
		if (r == 0 && chmod(MANYKUBE_STATE_DIR, 0755) < 0)
			r = error_sys(err, "cannot make '%s' accessible to all users",
				      MANYKUBE_STATE_DIR);
		if (r == 0)
			r = make_state(fresh, state, err);
		(void)file_remove_tree(fresh, NULL);
	}
	if (r == 0)
		*ret_path = take_ptr(state);
	return r;
}

int state_make(const char *name, char **ret_path, struct error *err)
{
	cleanup_free char *state = NULL;
	cleanup_free char *path = NULL;
	int r = state_ensure(&state, err);

	if (r < 0)
		return r;
	if (geteuid() != 0 && !path_is_one_home())
		return need_root(state, err);
	path = xasprintf("%s/%s", state, name);
	r = file_exists(path) ? 0 : make_root_directory(path, 0755, err);
	if (r == 0)
		*ret_path = take_ptr(path);
	return r;
}
