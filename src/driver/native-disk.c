/*
 * The disk of a native node.
 *
 * Interruptions are safe: the image is made under another name and renamed when it has a file
 * system, so an existing disk.img is never formatted again.  The program that grows a file system
 * holds a lock and may outlive us; the next command waits for it, because growing must not be
 * interrupted.
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

/* The space that ext4 may leave unused at the end, where no whole block group fits. */
#define SLACK_BYTES (UINT64_C(8) << 20)

/* Not in the headers of Linux 5.19. */
#define EXT4_IOC_SHUTDOWN _IOR('X', 125, uint32_t)
#define GOING_WITHOUT_LOG 2

/* How long to wait for a program that grows a disk. */
#define GROW_MS        600000
/* The first of the uids, one per slot, for programs that parse a node's disk. */
#define TOOL_UID_FIRST 0xfffc0000u

/* The path of the image for such a program, which has it as standard input. */
#define IMAGE_OF_TOOL "/proc/self/fd/0"

static char *below(const struct node_spec *spec, const char *name)
{
	return xasprintf("%s/%s", spec->dir, name);
}

/* The mount point of the disk; nodes cannot change it, see driver/tree.h. */
static char *mount_place(const struct node_spec *spec)
{
	cleanup_free char *tree = node_tree_path(spec->dir);

	return xasprintf("%s/var", tree);
}

/* Run a program of e2fsprogs; exit statuses up to MOST are no errors. */
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
		return error_set(err, -EIO, "%s exited with status %d, see '%s'", argv[0], r, log);
	return MIN(r, 0);
}

/* Images are sparse, so a disk may be larger than the free space, but then it cannot be filled. */
static void warn_if_large(const struct node_spec *spec)
{
	struct statvfs st;

	if (statvfs(spec->dir, &st) == 0 && (uint64_t)st.f_bavail * st.f_frsize < spec->disk_bytes)
		log_warning(
			"the disk of node '%s' may grow to %llu MiB, but this host has only %llu MiB "
			"free; data beyond that is lost",
			spec->name, (unsigned long long)(spec->disk_bytes >> 20),
			(unsigned long long)((uint64_t)st.f_bavail * st.f_frsize >> 20));
}

static int set_size(const char *path, int flags, uint64_t bytes, struct error *err)
{
	cleanup_fd int fd = open(path, O_RDWR | O_CLOEXEC | flags, 0600);

	if (fd < 0 || ftruncate(fd, (off_t)bytes) < 0)
		return error_sys(err, "cannot set the size of '%s' to %llu MiB", path,
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
	/* A new file reads as zeroes, so nothing needs to be discarded or zeroed. */
	if (r == 0)
		r = run_tool(spec,
			     ARGV("mkfs.ext4", "-q", "-F", "-b", "4096", "-m", "0", "-E",
				  "nodiscard,lazy_itable_init=1,lazy_journal_init=1", part),
			     &options, 0, err);
	if (r == 0 && rename(part, image) < 0)
		r = error_sys(err, "cannot rename to '%s'", image);
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
 * Run a program of e2fsprogs on the open IMAGE.  It parses data that the node wrote, so it can do
 * nothing but read and write this image: see process_options.confined_uid.
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
		log_debug("the image of node '%s' is still owned by user %u", spec->name, uid);
	return r;
}

static int check_image(const struct node_spec *spec, const char *image, int fd, char *how,
		       struct error *err)
{
	/* Exit statuses 1 and 2: errors were found and corrected. */
	int r = run_confined(spec, ARGV("e2fsck", how, IMAGE_OF_TOOL), fd, false, 2, err);

	return r == -EIO ? error_hint(err, r, "'e2fsck -f %s' as root may repair it", image) : r;
}

/* Grow the file system of IMAGE, which is locked through FD, to its configured size. */
static int grow(const struct node_spec *spec, const char *image, int fd, struct error *err)
{
	int r;

	warn_if_large(spec);
	r = set_size(image, 0, spec->disk_bytes, err);
	if (r == 0)
		r = check_image(spec, image, fd, (char[]){ "-fp" }, err);
	/* The program inherits the descriptor and thus the lock, and may outlive us. */
	return r < 0 ? r : run_confined(spec, ARGV("resize2fs", IMAGE_OF_TOOL), fd, true, 0, err);
}

/* Check the file system of IMAGE, which is not mounted, and grow it if needed. */
static int prepare_image(const struct node_spec *spec, const char *image, struct error *err)
{
	cleanup_fd int fd = open(image, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	int r;

	if (fd < 0)
		return error_sys(err, "cannot open '%s'", image);
	/* A killed command may have left a program that is still working on it. */
	r = file_lock_fd(fd, image, GROW_MS, err);
	if (r < 0)
		return error_prefix(err, r, "cannot use '%s'", image);
	r = check_image(spec, image, fd, (char[]){ "-p" }, err);
	if (r == 0 && is_small(spec, image))
		r = grow(spec, image, fd, err);
	return r;
}

/* A mounted file system can grow only with CAP_SYS_RESOURCE, which root may lack. */
static void warn_of_holder(const struct node_spec *spec, const char *image)
{
	pid_t pid = disk_find_holder(image);
	cleanup_free char *who = pid ? xasprintf("process %d", (int)pid)
				     : xstrdup("another process");

	log_warning("the disk of node '%s' did not grow: %s still has it mounted; when that has "
		    "ended, 'manykube node stop %s' and 'manykube node start %s' make it grow",
		    spec->name, who, spec->name, spec->name);
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
	else if (r == 0 && is_small(spec, image))
		warn_of_holder(spec, image);
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
		log_debug("unmounting the disk of node '%s' writes all pending data", spec->name);
}

uint64_t native_disk_used(const struct node_spec *spec)
{
	cleanup_free char *var = mount_place(spec);
	struct statvfs st;

	if (!spec->disk_bytes || !disk_is_mounted(var) || statvfs(var, &st) < 0)
		return 0;
	return (uint64_t)(st.f_blocks - st.f_bfree) * st.f_frsize;
}

uint64_t native_disk_size(const struct node_spec *spec)
{
	cleanup_free char *image = below(spec, "disk.img");
	uint64_t bytes;
	struct stat st;

	if (!spec->disk_bytes)
		return 0;
	/* Only root can read the image. */
	if (disk_read_size(image, &bytes, NULL) < 0)
		bytes = stat(image, &st) == 0 ? (uint64_t)st.st_size : 0;
	return bytes && bytes <= spec->disk_bytes && bytes + SLACK_BYTES >= spec->disk_bytes
		       ? spec->disk_bytes
		       : bytes;
}

int native_disk_show(const struct node_spec *spec, struct error *err)
{
	cleanup_free char *image = below(spec, "disk.img");
	cleanup_free char *var = mount_place(spec);

	if (!spec->disk_bytes || disk_is_mounted(var) || !file_exists(image))
		return 0;
	/* MS_SLAVE: unmounts on the host must reach our mount namespace. */
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) < 0)
		return error_sys(err, "cannot make a mount namespace");
	return disk_mount(image, var, true, err);
}
