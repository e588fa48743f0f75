/* Unpacking layers. */

#include "image/unpack.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/strbuf.h"
#include "data/tar-read.h"
#include "image/archive.h"
#include "image/unpack-path.h"

#define OPAQUE_NAME   ".wh..wh..opq"
#define OPAQUE_XATTR  "user.overlay.opaque"
#define CAPABILITY    "security.capability"
#define OVERLAY_XATTR "user.overlay."

/* What a file without contents takes on disk, about. */
#define FILE_BYTES 4096

/* The times of a directory are set when all of its files are there. */
struct dir_times {
	char *path;
	struct timespec mtime;
};

struct unpack {
	struct unpack_path place;
	struct room *room;
	struct tar_reader reader;
	struct dir_times *dirs;
	size_t dir_count;
};

/* The entry at hand, and where it is to be. */
struct target {
	const struct tar_entry *entry;
	const char *path;
	int dir;
	const char *name;
};

static void release_unpack(struct unpack *job)
{
	unpack_path_release(&job->place);
	tar_reader_release(&job->reader);
	for (size_t i = 0; i < job->dir_count; i++)
		free(job->dirs[i].path);
	free(job->dirs);
}

static struct timespec mtime_of(const struct tar_entry *entry)
{
	return (struct timespec){ .tv_sec = MAX(entry->mtime, (int64_t)0),
				  .tv_nsec = entry->mtime < 0 ? 0 : (long)entry->mtime_ns };
}

static int fail_entry(const struct target *target, struct error *err)
{
	return room_error(err, "cannot make '%s'", target->path);
}

static bool is_dir(int dir, const char *name)
{
	struct stat st;

	return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);
}

static bool is_whiteout(int dir, const char *name)
{
	struct stat st;

	return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISCHR(st.st_mode);
}

static int set_opaque(int fd, const char *path, struct error *err)
{
	if (fsetxattr(fd, OPAQUE_XATTR, "y", 1, 0) < 0)
		return room_error(err, "cannot hide what is below '%s'", path);
	return 0;
}

/* Attributes that overlayfs or the host's kernel would act on are not for layers to set. */
static bool is_wanted_xattr(const char *name)
{
	return strcmp(name, CAPABILITY) == 0 ||
	       (strncmp(name, "user.", 5) == 0 &&
		strncmp(name, OVERLAY_XATTR, strlen(OVERLAY_XATTR)) != 0);
}

/* Set owner, mode and attributes of the file or directory FD.  The order matters: a change of owner
 * clears set-user-ID bits and capabilities. */
static int set_status(const struct target *target, int fd, bool has_mode, struct error *err)
{
	const struct tar_entry *entry = target->entry;

	if ((entry->uid || entry->gid) && fchown(fd, (uid_t)entry->uid, (gid_t)entry->gid) < 0)
		return fail_entry(target, err);
	if ((!has_mode || entry->uid || entry->gid || (entry->mode & 07000)) &&
	    fchmod(fd, entry->mode) < 0)
		return fail_entry(target, err);
	for (size_t i = 0; i < entry->xattr_count; i++) {
		const struct tar_xattr *xattr = &entry->xattrs[i];

		if (is_wanted_xattr(xattr->name) &&
		    fsetxattr(fd, xattr->name, xattr->value, xattr->len, 0) < 0 &&
		    errno != EOPNOTSUPP)
			return room_error(err, "cannot set the attribute '%s' of '%s'", xattr->name,
					  target->path);
	}
	return 0;
}

static void set_times(const struct target *target, int fd)
{
	struct timespec mtime = mtime_of(target->entry);

	(void)futimens(fd, (struct timespec[]){ mtime, mtime });
}

static int copy_contents(struct unpack *job, int fd, struct error *err)
{
	for (;;) {
		const void *data;
		size_t len;
		int r = tar_reader_data(&job->reader, &data, &len, err);

		if (r < 0 || len == 0)
			return r;
		r = room_write(job->room, fd, data, len, err);
		if (r < 0)
			return r;
	}
}

static int make_file(struct unpack *job, const struct target *target, struct error *err)
{
	const int how = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
	cleanup_fd int fd = openat(target->dir, target->name, how, target->entry->mode & 0777);
	int r;

	if (fd < 0)
		return -errno;
	r = copy_contents(job, fd, err);
	if (r < 0)
		return error_prefix(err, r, "'%s'", target->path);
	r = set_status(target, fd, true, err);
	if (r == 0)
		set_times(target, fd);
	return r;
}

static void keep_times(struct unpack *job, const struct target *target)
{
	if ((job->dir_count & (job->dir_count - 1)) == 0)
		job->dirs = xrealloc(job->dirs, job->dir_count ? 2 * job->dir_count : 1,
				     sizeof(*job->dirs));
	strlist_remove(&job->place.made, target->path);
	job->dirs[job->dir_count++] = (struct dir_times){
		.path = xstrdup(target->path),
		.mtime = mtime_of(target->entry),
	};
}

/* A directory that exists gets the status of the entry and keeps its files. */
static int make_dir(struct unpack *job, const struct target *target, struct error *err)
{
	bool hides = is_whiteout(target->dir, target->name);
	cleanup_fd int fd = -1;
	int r;

	if (hides || (mkdirat(target->dir, target->name, 0700) < 0 &&
		      !(errno == EEXIST && is_dir(target->dir, target->name)))) {
		if (!hides)
			return -errno;
		r = file_remove_tree_at(target->dir, target->name, err);
		if (r < 0)
			return r;
		if (mkdirat(target->dir, target->name, 0700) < 0)
			return -errno;
	}
	fd = openat(target->dir, target->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	r = set_status(target, fd, false, err);
	/* It replaces the one that the whiteout hid, so nothing of that may show. */
	if (r == 0 && hides)
		r = set_opaque(fd, target->path, err);
	if (r == 0)
		keep_times(job, target);
	return r;
}

static int make_symlink(const struct target *target)
{
	const struct tar_entry *entry = target->entry;
	struct timespec mtime = mtime_of(entry);

	if (symlinkat(entry->target, target->dir, target->name) < 0)
		return -errno;
	if ((entry->uid || entry->gid) && fchownat(target->dir, target->name, (uid_t)entry->uid,
						   (gid_t)entry->gid, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	(void)utimensat(target->dir, target->name, (struct timespec[]){ mtime, mtime },
			AT_SYMLINK_NOFOLLOW);
	return 0;
}

static int make_fifo(const struct target *target, struct error *err)
{
	cleanup_fd int fd = -1;
	int r;

	if (mkfifoat(target->dir, target->name, 0600) < 0)
		return -errno;
	fd = openat(target->dir, target->name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	r = set_status(target, fd, false, err);
	if (r == 0)
		set_times(target, fd);
	return r;
}

/* The file may be in a layer below, where it cannot be linked to. */
static int refuse_link(const struct target *target, struct error *err)
{
	error_clear(err);
	return error_set(err, -EBADMSG,
			 "'%s' is a hard link to '%s', which is not in the same layer: that is not "
			 "supported",
			 target->path, target->entry->target);
}

static int make_hard_link(struct unpack *job, const struct target *target, struct error *err)
{
	cleanup_with(unpack_path_release) struct unpack_path from = UNPACK_PATH_INIT;
	cleanup_free char *path = archive_normalize(target->entry->target);
	const char *name;
	int dir;
	int r;

	if (!path || !*path)
		return error_set(err, -EBADMSG, "the hard link '%s' to '%s' leads out of the layer",
				 target->path, target->entry->target);
	from.top = job->place.top;
	r = unpack_path_open(&from, path, false, &dir, &name, err);
	if (r == -ENOENT)
		return refuse_link(target, err);
	if (r < 0)
		return error_prefix(err, -EBADMSG, "the hard link '%s'", target->path);
	if (linkat(dir, name, target->dir, target->name, 0) == 0)
		return 0;
	if (errno == EEXIST)
		return -EEXIST;
	if (errno == ENOENT)
		return refuse_link(target, err);
	error_sys(err, "cannot link '%s' to '%s'", target->path, target->entry->target);
	return -EBADMSG;
}

/* Make the entry.  Without a message in ERR, the result is that of a system call. */
static int make_once(struct unpack *job, const struct target *target, struct error *err)
{
	switch (target->entry->type) {
	case TAR_FILE:
		return make_file(job, target, err);
	case TAR_DIR:
		return make_dir(job, target, err);
	case TAR_SYMLINK:
		return make_symlink(target);
	case TAR_HARD_LINK:
		return make_hard_link(job, target, err);
	case TAR_FIFO:
		return make_fifo(target, err);
	case TAR_CHAR_DEVICE:
	case TAR_BLOCK_DEVICE:
		break;
	}
	return 0;
}

static int make_entry(struct unpack *job, const struct target *target, struct error *err)
{
	int r = make_once(job, target, err);

	if (r == -EEXIST) {
		r = file_remove_tree_at(target->dir, target->name, err);
		if (r < 0)
			return r;
		r = make_once(job, target, err);
	}
	if (r < 0 && !err->text) {
		errno = -r;
		return fail_entry(target, err);
	}
	return r;
}

/* Hide the file NAME of the layers below, unless this layer has one of that name. */
static int make_whiteout(const struct target *target, const char *name, struct error *err)
{
	cleanup_fd int fd = -1;

	if (!*name || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return error_set(err, -EBADMSG, "'%s' hides nothing", target->path);
	if (mknodat(target->dir, name, S_IFCHR, 0) == 0 ||
	    (errno == EEXIST && !is_dir(target->dir, name)))
		return 0;
	if (errno != EEXIST)
		return fail_entry(target, err);
	fd = openat(target->dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? fail_entry(target, err) : set_opaque(fd, target->path, err);
}

static int unpack_entry(struct unpack *job, const struct tar_entry *entry, struct error *err)
{
	cleanup_free char *path = archive_normalize(entry->path);
	struct target target = { .entry = entry, .path = path };
	int r;

	if (!path)
		return error_set(err, -EBADMSG, "'%s' leads out of the layer", entry->path);
	/* Like containerd, leave the root as it is. */
	if (!*path)
		return 0;
	if (entry->uid >= UNPACK_IDS_MAX || entry->gid >= UNPACK_IDS_MAX)
		return error_set(err, -EBADMSG, "the owner of '%s', %llu:%llu, is none of a node",
				 path, (unsigned long long)entry->uid,
				 (unsigned long long)entry->gid);
	r = room_take(job->room, FILE_BYTES, err);
	if (r == 0)
		r = unpack_path_open(&job->place, path, true, &target.dir, &target.name, err);
	if (r < 0)
		return r;
	if (strcmp(target.name, OPAQUE_NAME) == 0)
		return set_opaque(target.dir, path, err);
	/* Other names of this kind are those of AUFS's own files. */
	if (strncmp(target.name, ".wh..wh.", 8) == 0)
		return 0;
	if (strncmp(target.name, ".wh.", 4) == 0)
		return make_whiteout(&target, target.name + 4, err);
	return make_entry(job, &target, err);
}

/* Set the times of directories, the last ones first, since they may be below others. */
static void set_dir_times(const struct unpack *job)
{
	for (size_t i = job->dir_count; i-- > 0;) {
		const struct dir_times *times = &job->dirs[i];
		cleanup_fd int fd = unpack_path_enter(job->place.top, times->path,
						      O_RDONLY | O_DIRECTORY | O_NOFOLLOW);

		if (fd >= 0)
			(void)futimens(fd, (struct timespec[]){ times->mtime, times->mtime });
	}
}

int unpack_layer(struct stream *layer, int dir, struct room *room, struct strlist *ret_made,
		 struct error *err)
{
	cleanup_with(release_unpack) struct unpack job = {
		.place = UNPACK_PATH_INIT,
		.room = room,
		.reader = TAR_READER_INIT,
	};
	const struct tar_entry *entry;
	mode_t before = umask(0);
	int r;

	job.place.top = dir;
	tar_reader_open(&job.reader, layer);
	while ((r = tar_reader_next(&job.reader, &entry, err)) > 0) {
		r = unpack_entry(&job, entry, err);
		if (r < 0)
			break;
	}
	if (r == 0) {
		set_dir_times(&job);
		*ret_made = job.place.made;
		job.place.made = STRLIST_INIT;
	}
	(void)umask(before);
	return r == -EINVAL ? -EBADMSG : r;
}
