/* Moving clusters of earlier versions to root's directories. */

#include "home/migrate.h"

#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "balancer/balancer.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/log.h"
#include "base/path.h"
#include "base/process.h"
#include "base/user.h"
#include "cgroup/cgroup.h"
#include "cgroup/scope.h"
#include "home/autostart.h"
#include "host/disk.h"
#include "network/network.h"
#include "node/cluster-node.h"
#include "record/old-home.h"
#include "record/state.h"

static int refuse_move(const char *path, const char *why, struct error *err)
{
	(void)error_because(err, &reason_host_config, -EPERM,
			    "the cluster in '%s' cannot be moved to root's directories: %s", path,
			    why);
	return error_hint(err, -EPERM, "it was not changed; correct the problem and try again");
}

/* Open the parent directory of PATH, a cluster in the user's home.  It has to belong to the user: a
 * link could lead to any other directory. */
static int open_home(const char *path, int *ret_fd, struct error *err)
{
	cleanup_free char *above = xstrndup(path, (size_t)(path_last_name(path) - path));
	cleanup_fd int fd = open(above, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return error_sys(err, "cannot open the directory '%s'", above);
	if (st.st_uid != path_person_uid())
		return refuse_move(path, "the directory above it does not belong to the user", err);
	*ret_fd = take_fd(fd);
	return 0;
}

/* Take the lock that an earlier version takes while it works on the cluster. */
static int lock_old(const char *path, int *ret_fd, struct error *err)
{
	cleanup_with(user_leave) struct user_rights rights = USER_RIGHTS_INIT;
	cleanup_free char *lock = xasprintf("%.*s../locks/%s", (int)(path_last_name(path) - path),
					    path, path_last_name(path));
	cleanup_fd int fd = -1;
	int r = user_enter(&rights, err);

	if (r < 0)
		return r;
	fd = open(lock, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0)
		return error_because(err, &reason_busy, -EWOULDBLOCK,
				     "cluster '%s' is in use by another command",
				     path_last_name(path));
	*ret_fd = take_fd(fd);
	return 0;
}

/* Copy the cluster in the directory FD, which is root's already, to MOVING on another file system.
 */
static int copy_over(int fd, const char *moving, struct error *err)
{
	cleanup_free char *from = xasprintf("/proc/%d/fd/%d/.", (int)getpid(), fd);
	cleanup_free char *part = xasprintf("%s.part", moving);
	cleanup_fd int copy = -1;
	int r = file_remove_tree(part, err);

	if (r == 0)
		r = process_run(ARGV("cp", "--archive", "--no-target-directory", "--", from, part),
				&(struct process_options){ .no_stdin = true, .dies_with_us = true },
				err);
	if (r > 0)
		r = error_because(err, &reason_storage, -EIO,
				  "cannot copy the cluster '%s' to '%s'", path_last_name(moving),
				  part);
	if (r < 0)
		return r;
	copy = open(part, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (copy < 0 || syncfs(copy) < 0)
		return error_sys(err, "cannot write '%s' to disk", part);
	return rename(part, moving) < 0 ? error_sys(err, "cannot rename '%s'", moving) : 0;
}

/* Remove the original of what copy_over() copied. */
static int remove_original(const char *path, struct error *err)
{
	cleanup_free char *inside = NULL;
	cleanup_fd int home = -1;
	int r = open_home(path, &home, err);

	if (r < 0)
		return r;
	inside = xasprintf("/proc/self/fd/%d/%s", home, path_last_name(path));
	return file_remove_tree(inside, err);
}

/*
 * Whether the user can read NAME, a file or directory with the status ST, in the directory FD.  The
 * owner can always change the mode, so the user can read all their own files.
 */
static bool user_can_read(int fd, const char *name, const struct stat *st)
{
	cleanup_with(user_leave) struct user_rights rights = USER_RIGHTS_INIT;
	cleanup_free char *path = xasprintf("%s%s", name, S_ISDIR(st->st_mode) ? "/." : "");
	cleanup_fd int opened = -1;

	if (st->st_uid == path_person_uid())
		return true;
	if (user_enter(&rights, NULL) < 0)
		return false;
	opened = openat(fd, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	return opened >= 0;
}

/* Replace the file PATH by a copy that belongs to root: the user may hold the original open. */
static int copy_file(const char *path, mode_t mode, struct error *err)
{
	cleanup_free char *copy = xasprintf("%s.new", path);
	int r = file_copy(path, copy, err);

	if (r == 0 && chmod(copy, mode & 0644) < 0)
		r = error_sys(err, "cannot set the mode of '%s'", copy);
	if (r == 0 && !(mode & 04))
		r = user_may_read(copy, err);
	if (r == 0 && rename(copy, path) < 0)
		r = error_sys(err, "cannot replace '%s'", path);
	return r;
}

/*
 * Make NAME in the directory FD, which is root's, a file that only root can change.  The user may
 * read the result only if they could read the file before.
 */
static int renew_file(int fd, const char *name, struct error *err)
{
	cleanup_free char *path = xasprintf("/proc/self/fd/%d/%s", fd, name);
	struct stat st;
	bool readable;

	if (fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return error_sys(err, "cannot access '%s'", name);
	readable = S_ISREG(st.st_mode) && user_can_read(fd, name, &st);
	if (S_ISREG(st.st_mode) && st.st_uid == 0 && st.st_nlink == 1) {
		if (st.st_mode & 07777 & ~0644u && fchmodat(fd, name, st.st_mode & 0644, 0) < 0)
			return error_sys(err, "cannot set the mode of '%s'", name);
		return readable && !(st.st_mode & 04) ? user_may_read(path, err) : 0;
	}
	if (readable)
		return copy_file(path, st.st_mode, err);
	/* manykube creates no links, pipes or files with several names here. */
	return unlinkat(fd, name, 0) < 0 ? error_sys(err, "cannot remove '%s'", name) : 0;
}

/* Make the directory NAME in the directory FD root's and close it to all others. */
static int close_directory(int fd, const char *name, struct error *err)
{
	cleanup_fd int inner = openat(fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (inner < 0 || fchown(inner, 0, 0) < 0 || fchmod(inner, 0700) < 0)
		return error_sys(err, "cannot close the directory '%s'", name);
	return 0;
}

/*
 * Make NAME in the directory PARENT, the directory of all nodes, root's.  The user may list which
 * nodes there are, but enter none: files of node root belong to root on this host.  The next start
 * opens the nodes' directories.
 */
static int renew_nodes(int parent, const char *name, struct error *err)
{
	cleanup_free char *path = xasprintf("/proc/self/fd/%d/%s", parent, name);
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	cleanup_dir DIR *stream = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (!stream || fchown(fd, 0, 0) < 0 || fchmod(fd, 0700) < 0)
		return error_sys(err, "cannot make root the owner of '%s'", name);
	while ((entry = readdir(stream))) {
		int r;

		if (path_is_dots(entry->d_name))
			continue;
		r = close_directory(fd, entry->d_name, err);
		if (r < 0)
			return r;
	}
	return user_may_read(path, err);
}

static int renew_entry(int fd, const char *name, bool is_cluster, struct error *err);

/*
 * Make the directory NAME in PARENT and the files in it root's.  The user may enter it only if they
 * could before.  IS_CLUSTER: it is the directory of a cluster, with `logs` and `nodes`.
 */
static int renew_directory(int parent, const char *name, bool is_cluster, struct error *err)
{
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	cleanup_dir DIR *stream = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	struct stat st;
	mode_t mode;
	int r = 0;

	if (!stream || fstat(fd, &st) < 0)
		return error_sys(err, "cannot open the directory '%s'", name);
	mode = user_can_read(fd, ".", &st) ? 0755 : 0700;
	/* From here on, only root can change its entries. */
	if (fchown(fd, 0, 0) < 0 || fchmod(fd, mode) < 0)
		return error_sys(err, "cannot make root the owner of '%s'", name);
	while (r == 0 && (entry = readdir(stream)))
		if (!path_is_dots(entry->d_name))
			r = renew_entry(fd, entry->d_name, is_cluster, err);
	return r;
}

static int renew_entry(int fd, const char *name, bool is_cluster, struct error *err)
{
	struct stat st;

	if (fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : error_sys(err, "cannot access '%s'", name);
	if (!S_ISDIR(st.st_mode))
		return renew_file(fd, name, err);
	if (is_cluster && strcmp(name, "nodes") == 0)
		return renew_nodes(fd, name, err);
	if (is_cluster && strcmp(name, "logs") == 0)
		return renew_directory(fd, name, false, err);
	/* Not created by manykube; it may hold the nodes of another cluster. */
	return close_directory(fd, name, err);
}

/* Make the cluster in the directory FD root's.  PATH is its name in messages. */
static int renew_cluster(int fd, const char *path, struct error *err)
{
	int r = renew_directory(fd, ".", true, err);
	/* Check again, now that only root can change it. */
	const char *why = r < 0 ? NULL : state_distrust(fd);

	if (r < 0)
		return error_prefix(err, r, "'%s'", path);
	return why ? refuse_move(path, why, err) : 0;
}

/* Move the cluster in PATH to MOVING. */
static int take_over(const char *path, const char *moving, struct error *err)
{
	const char *name = path_last_name(path);
	cleanup_fd int home = -1;
	cleanup_fd int cluster = -1;
	cleanup_fd int lock = -1;
	const char *why;
	int r = open_home(path, &home, err);

	if (r == 0)
		r = lock_old(path, &lock, err);
	if (r < 0)
		return r;
	cluster = openat(home, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (cluster < 0)
		return refuse_move(path, "it is not a directory", err);
	why = state_distrust(cluster);
	if (why)
		return refuse_move(path, why, err);
	/* Disks of nodes that were killed may still be mounted. */
	r = disk_unmount_below(path, err);
	/* A link that was renamed before in the place of the cluster. */
	(void)unlink(moving);
	if (r < 0 || renameat(home, name, AT_FDCWD, moving) == 0)
		return r;
	if (errno != EXDEV)
		return error_sys(err, "cannot move '%s'", path);
	/* Otherwise the user could replace files and directories by links while they are copied. */
	r = renew_cluster(cluster, path, err);
	return r < 0 ? r : copy_over(cluster, moving, err);
}

/*
 * Rename what is named after the cluster's directory: the bridge, the control group, which the next
 * start creates, and the service that starts the cluster.
 */
static int rename_parts(const char *name, const char *old_path, struct error *err)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_with(profile_release) struct profile before = PROFILE_INIT;
	cleanup_free char *state = NULL;
	cleanup_free char *place = NULL;
	cleanup_free char *group = NULL;
	int r = path_state(&state, err);

	/* A record that cannot be read is moved as it is. */
	if (r < 0 || profile_load(name, &profile, NULL) < 0)
		return r;
	place = xasprintf("%s/profiles/%s", state, name);
	free(profile.bridge);
	profile.bridge = profile_bridge_name(place);
	before.bridge = old_path ? profile_bridge_name(old_path) : NULL;
	r = profile_save(&profile, err);
	if (r < 0 || !before.bridge)
		return r;
	group = scope_group(before.bridge);
	cgroup_remove_if_empty(group);
	if (!autostart_is_enabled(&before))
		return 0;
	r = autostart_enable(&profile, err);
	return r < 0 ? r : autostart_disable(&before, err);
}

/* Make the files in MOVING root's, and move them to their final place. */
static int install_moved(const char *name, const char *moving, const char *old_path,
			 struct error *err)
{
	cleanup_free char *profiles = NULL;
	cleanup_free char *place = NULL;
	cleanup_fd int fd = open(moving, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int r = fd < 0 ? error_sys(err, "cannot open '%s'", moving)
		       : renew_cluster(fd, moving, err);

	if (r == 0)
		r = rename_parts(name, old_path, err);
	if (r == 0)
		r = state_make("profiles", &profiles, err);
	if (r < 0)
		return r;
	place = xasprintf("%s/%s", profiles, name);
	if (rename(moving, place) < 0)
		return error_sys(err, "cannot rename '%s'", place);
	log_warning("cluster '%s' was moved to '%s', because root only uses files owned by root",
		    name, place);
	return 0;
}

/* Remove the directories of an earlier version in the user's home that are empty. */
static void tidy_home(const char *path)
{
	static const char *const names[] = { "locks", "profiles" };
	cleanup_with(user_leave) struct user_rights rights = USER_RIGHTS_INIT;
	int len = (int)(path_last_name(path) - path);
	cleanup_free char *lock = xasprintf("%.*s../locks/%s", len, path, path_last_name(path));

	if (user_enter(&rights, NULL) < 0)
		return;
	(void)unlink(lock);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		cleanup_free char *empty = xasprintf("%.*s../%s", len, path, names[i]);

		(void)rmdir(empty);
	}
}

static bool is_running(const char *name)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	const struct node *node;

	if (profile_load(name, &profile, NULL) < 0)
		return false;
	if (balancer_pid(profile.dir) > 0)
		return true;
	profile_for_each_node(node, &profile)
		if (cluster_node_state(&profile, node) == NODE_RUNNING)
			return true;
	return false;
}

static int finish_move(const char *name, const char *path, const char *moving, struct error *err)
{
	cleanup_free char *above = xstrndup(moving, (size_t)(path_last_name(moving) - moving));
	struct stat here;
	struct stat there;
	int r = 0;

	/* Across file systems the cluster was copied; otherwise the original does not exist any
	 * more. */
	if (path && lstat(path, &there) == 0 && stat(moving, &here) == 0 &&
	    here.st_dev != there.st_dev)
		r = remove_original(path, err);
	if (r == 0)
		r = install_moved(name, moving, path, err);
	if (r == 0)
		r = old_home_forget(name, err);
	if (r < 0)
		return r;
	(void)rmdir(above);
	if (path)
		tidy_home(path);
	return 0;
}

int migrate_cluster(const char *name, struct error *err)
{
	cleanup_free char *found = old_home_find(name);
	cleanup_free char *path = NULL;
	cleanup_free char *moving = NULL;
	cleanup_free char *above = NULL;
	cleanup_free char *dir = NULL;
	int r = profile_dir(name, &dir, err);

	if (r < 0 || !found || strcmp(found, dir) != 0)
		return r;
	path = old_home_recorded(name);
	moving = old_home_moving(name);
	if (strcmp(found, moving) != 0) {
		if (is_running(name))
			return 0;
		r = state_make("moving", &above, err);
		if (r == 0 && chmod(above, 0700) < 0)
			r = error_sys(err, "cannot close '%s' to others", above);
		if (r == 0)
			r = take_over(path, moving, err);
		if (r < 0)
			return r;
	}
	return finish_move(name, path, moving, err);
}

int migrate_remove(const char *name, const char *dir, struct error *err)
{
	cleanup_free char *found = old_home_find(name);
	cleanup_free char *moving = old_home_moving(name);
	cleanup_free char *path = NULL;
	int r;

	if (!found || strcmp(found, dir) != 0)
		return file_remove_tree(dir, err);
	path = old_home_recorded(name);
	r = file_remove_tree(moving, err);
	if (r == 0 && path && file_exists(path))
		r = remove_original(path, err);
	if (r == 0)
		r = old_home_forget(name, err);
	if (r == 0 && path)
		tidy_home(path);
	return r;
}
