/*
 * The disk of a native node.
 *
 * Whatever ends us half-way: the file is made beside and renamed when it has a file system, so
 * what is called disk.img is never formatted again; and who makes a file system larger holds a lock
 * on it that a successor waits for, since that must not be cut short.
 */

#include "driver/native-disk.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/log.h"
#include "driver/tree.h"
#include "host/disk.h"

/* ext4 leaves so much unused at the end where no whole group of blocks fits. */
#define SLACK_BYTES (UINT64_C(8) << 20)

/* Not in the headers of Linux 5.19. */
#define EXT4_IOC_SHUTDOWN _IOR('X', 125, uint32_t)
#define GOING_WITHOUT_LOG 2

/* How long a program that grows a disk may take. */
#define GROW_MS        600000
/* The first of the ids, one for each slot, that programs have which read what a node has made of
 * its disk. */
#define TOOL_UID_FIRST 0xfffc0000u

/* The opened image, as the standard input of such a program. */
#define IMAGE_OF_TOOL "/proc/self/fd/0"

static char *below(const struct node_spec *spec, const char *name)
{
	return xasprintf("%s/%s", spec->dir, name);
}

/* Where the disk is mounted.  The name is the host's own, see driver/tree.h. */
static char *mount_place(const struct node_spec *spec)
{
	cleanup_free char *tree = node_tree_path(spec->dir);

	return xasprintf("%s/var", tree);
}

/* Run a program of e2fsprogs, whose exit status may be MOST. */
static int run_tool(const struct node_spec *spec, char *const *argv,
		    const struct process_options *wanted, int most, struct error *err)
{
	cleanup_free char *log = below(spec, "disk.log");
	struct process_options options = *wanted;
	int r;

	options.output = log;
	r = process_run(argv, &options, err);
	if (r == -ENOENT) {
		(void)error_reason(err, r, &reason_host_missing_tool);
		return error_hint(err, r, "apt install e2fsprogs");
	}
	if (r > most)
		return error_set(err, -EIO, "%s ended with status %d, see '%s'", argv[0], r, log);
	return MIN(r, 0);
}

/* Files have holes, so a disk may be larger than what is free; but then it can't be filled. */
static void warn_if_large(const struct node_spec *spec)
{
	struct statvfs st;

	if (statvfs(spec->dir, &st) == 0 && (uint64_t)st.f_bavail * st.f_frsize < spec->disk_bytes)
		log_warning(
			"the disk of node '%s' may grow to %llu MiB, and this host has %llu MiB "
			"free: what goes beyond that is lost",
			spec->name, (unsigned long long)(spec->disk_bytes >> 20),
			(unsigned long long)((uint64_t)st.f_bavail * st.f_frsize >> 20));
}

static int set_size(const char *path, int flags, uint64_t bytes, struct error *err)
{
	cleanup_fd int fd = open(path, O_RDWR | O_CLOEXEC | flags, 0600);

	if (fd < 0 || ftruncate(fd, (off_t)bytes) < 0)
		return error_sys(err, "cannot make '%s' %llu MiB large", path,
				 (unsigned long long)(bytes >> 20));
	return 0;
}

static int make_image(const struct node_spec *spec, const char *image, struct error *err)
{
	cleanup_free char *part = xasprintf("%s.part", image);
	const struct process_options options = { .no_stdin = true, .dies_with_us = true };
	int r;

	warn_if_large(spec);
	(void)unlink(part);
	r = set_size(part, O_CREAT | O_EXCL, spec->disk_bytes, err);
	/* A new file is all zeroes: nothing to discard or to write them to. */
	if (r == 0)
		r = run_tool(spec,
			     ARGV("mkfs.ext4", "-q", "-F", "-b", "4096", "-m", "0", "-E",
				  "nodiscard,lazy_itable_init=1,lazy_journal_init=1", part),
			     &options, 0, err);
	if (r == 0 && rename(part, image) < 0)
		r = error_sys(err, "cannot name '%s'", image);
	if (r < 0)
		(void)unlink(part);
	return r;
}

static bool is_small(const struct node_spec *spec, const char *image)
{
	uint64_t bytes;

	return disk_read_size(image, &bytes, NULL) == 0 && bytes + SLACK_BYTES < spec->disk_bytes;
}

/*
 * Run a program of e2fsprogs on the opened IMAGE.  What a node did to its files is parsed there, so
 * the program can do nothing but read and write this image: see process_options.confined_uid.
 */
static int run_confined(const struct node_spec *spec, char *const *argv, int image,
			bool outlives_us, int most, struct error *err)
{
	uid_t uid = TOOL_UID_FIRST + spec->slot;
	const struct process_options options = { .stdin_fd = image,
						 .new_session = outlives_us,
						 .dies_with_us = !outlives_us,
						 .confined_uid = uid };
	int r;

	if (fchown(image, uid, uid) < 0)
		return error_sys(err, "cannot give the image to %s", argv[0]);
	r = run_tool(spec, argv, &options, most, err);
	if (fchown(image, 0, 0) < 0)
		log_debug("the image of node '%s' stays with %u", spec->name, uid);
	return r;
}

static int check_image(const struct node_spec *spec, const char *image, int fd, char *how,
		       struct error *err)
{
	/* 1 and 2: there was something wrong, and it was put right. */
	int r = run_confined(spec, ARGV("e2fsck", how, IMAGE_OF_TOOL), fd, false, 2, err);

	return r == -EIO ? error_hint(err, r, "'e2fsck -f %s' as root may mend it", image) : r;
}

/* Make the file system of IMAGE, which FD locks, as large as it should be. */
static int grow(const struct node_spec *spec, const char *image, int fd, struct error *err)
{
	int r;

	warn_if_large(spec);
	r = set_size(image, 0, spec->disk_bytes, err);
	if (r == 0)
		r = check_image(spec, image, fd, (char[]){ "-fp" }, err);
	/* The lock goes with the descriptor: it ends with the program, which may outlive us. */
	return r < 0 ? r : run_confined(spec, ARGV("resize2fs", IMAGE_OF_TOOL), fd, true, 0, err);
}

/* See that IMAGE, which is not mounted, is in order and of the right size. */
static int prepare_image(const struct node_spec *spec, const char *image, struct error *err)
{
	cleanup_fd int fd = open(image, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	int r;

	if (fd < 0)
		return error_sys(err, "cannot open '%s'", image);
	/* A command that was killed may have left a program at work on it. */
	r = file_lock_fd(fd, image, GROW_MS, err);
	if (r < 0)
		return error_prefix(err, r, "cannot use '%s'", image);
	r = check_image(spec, image, fd, (char[]){ "-p" }, err);
	if (r == 0 && is_small(spec, image))
		r = grow(spec, image, fd, err);
	return r;
}

static int up(const struct node_spec *spec, struct error *err)
{
	cleanup_free char *image = below(spec, "disk.img");
	cleanup_free char *var = mount_place(spec);
	int r = file_make_dirs(var, 0700, err);

	if (r == 0 && disk_is_mounted(var)) {
		if (!is_small(spec, image) || node_driver_native.query(spec) == NODE_RUNNING)
			return 0;
		r = disk_unmount_below(spec->dir, err);
	}
	if (r == 0 && !file_exists(image))
		r = make_image(spec, image, err);
	if (r == 0 && !disk_is_attached(image))
		r = prepare_image(spec, image, err);
	return r < 0 ? r : disk_mount(image, var, false, err);
}

int native_disk_up(const struct node_spec *spec, struct error *err)
{
	int r = spec->disk_bytes ? up(spec, err) : 0;

	return r < 0 ? error_prefix(err, r, "the disk of node '%s'", spec->name) : 0;
}

void native_disk_abandon(const struct node_spec *spec)
{
	cleanup_free char *var = mount_place(spec);
	uint32_t how = GOING_WITHOUT_LOG;
	cleanup_fd int fd = -1;

	if (!disk_is_mounted(var))
		return;
	fd = open(var, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0 && ioctl(fd, EXT4_IOC_SHUTDOWN, &how) < 0)
		log_debug("the disk of node '%s' is written to its end", spec->name);
}

uint64_t native_disk_used(const struct node_spec *spec)
{
	cleanup_free char *var = mount_place(spec);
	struct statvfs st;

	if (!spec->disk_bytes || !disk_is_mounted(var) || statvfs(var, &st) < 0)
		return 0;
	return (uint64_t)(st.f_blocks - st.f_bfree) * st.f_frsize;
}

int native_disk_show(const struct node_spec *spec, struct error *err)
{
	cleanup_free char *image = below(spec, "disk.img");
	cleanup_free char *var = mount_place(spec);

	if (!spec->disk_bytes || disk_is_mounted(var) || !file_exists(image))
		return 0;
	/* What others unmount is to go from our mounts, too. */
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) < 0)
		return error_sys(err, "cannot have mounts of our own");
	return disk_mount(image, var, true, err);
}
