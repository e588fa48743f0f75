/* Disk images on loop devices. */

#include "host/disk.h"

#include <endian.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/loop.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/alloc.h"
#include "base/below.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/parse.h"
#include "base/strbuf.h"
#include "base/strlist.h"

/* How often to try: another process may take the free device first. */
#define TRIES 32

/* How long to wait for mounts of killed processes, which disappear some time after them. */
#define RELEASE_MS      5000
#define RELEASE_POLL_MS 10

#define BLOCK_BYTES     4096
#define MOUNTINFO_LIMIT (16 << 20)

/* Whether the loop device FD is backed by the file with the status ST and is writable. */
static bool is_device_of(int fd, const struct stat *st)
{
	struct loop_info64 info;

	return ioctl(fd, LOOP_GET_STATUS64, &info) == 0 && info.lo_device == st->st_dev &&
	       info.lo_inode == st->st_ino && !(info.lo_flags & LO_FLAGS_READ_ONLY);
}

/* Open the writable loop device that is backed by the file IMAGE and return its path; -1 if there
 * is none.  The device keeps its backing file while it is open. */
static int find_loop_device(const char *image, char **ret_path)
{
	cleanup_dir DIR *stream = opendir("/sys/block");
	struct dirent *entry;
	struct stat st;

	if (!stream || stat(image, &st) < 0)
		return -1;
	while ((entry = readdir(stream))) {
		cleanup_free char *bound = xasprintf("/sys/block/%s/loop/backing_file",
						     entry->d_name);
		cleanup_free char *path = xasprintf("/dev/%s", entry->d_name);
		cleanup_fd int fd = -1;

		if (!file_exists(bound))
			continue;
		/* Read-only: udev probes a device again when a writer closes it. */
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0 || !is_device_of(fd, &st))
			continue;
		if (ret_path)
			*ret_path = take_ptr(path);
		return take_fd(fd);
	}
	return -1;
}

bool disk_is_attached(const char *image)
{
	cleanup_fd int fd = find_loop_device(image, NULL);

	return fd >= 0;
}

static int attach(const char *image, bool read_only, int *ret_fd, char **ret_path,
		  struct error *err)
{
	cleanup_fd int control = open("/dev/loop-control", O_RDWR | O_CLOEXEC);
	cleanup_fd int file = open(image, (read_only ? O_RDONLY : O_RDWR) | O_CLOEXEC);
	struct loop_config config = {
		.block_size = BLOCK_BYTES,
		/* Direct I/O: the page cache already holds the files of the file system. */
		.info.lo_flags = LO_FLAGS_AUTOCLEAR | LO_FLAGS_DIRECT_IO |
				 (read_only ? LO_FLAGS_READ_ONLY : 0),
	};

	if (file < 0)
		return error_sys(err, "cannot open '%s'", image);
	if (control < 0) {
		int r = error_sys(err, "cannot open '/dev/loop-control'");

		(void)error_hint(err, r, "load the module 'loop' as root: modprobe loop");
		return error_reason(err, r, &reason_host_unsupported);
	}
	config.fd = (unsigned)file;
	for (int i = 0; i < TRIES; i++) {
		int number = ioctl(control, LOOP_CTL_GET_FREE);
		cleanup_free char *path = xasprintf("/dev/loop%d", number);
		cleanup_fd int fd = -1;

		if (number < 0)
			return error_sys(err, "cannot find a free loop device");
		fd = open(path, (read_only ? O_RDONLY : O_RDWR) | O_CLOEXEC);
		if (fd < 0)
			return error_sys(err, "cannot open '%s'", path);
		if (ioctl(fd, LOOP_CONFIGURE, &config) == 0) {
			*ret_path = take_ptr(path);
			*ret_fd = take_fd(fd);
			return 0;
		}
		if (errno != EBUSY)
			return error_sys(err, "cannot attach '%s' to '%s'", image, path);
	}
	return error_set(err, -EBUSY, "no free loop device for '%s'", image);
}

int disk_mount(const char *image, const char *dir, bool read_only, struct error *err)
{
	/* discard returns the space of deleted files to the host; noinit_itable skips zeroing
	 * unused inode tables; noload does not replay the journal. */
	const char *how = read_only ? "noload" : "discard,noinit_itable,errors=remount-ro";
	unsigned long flags = MS_NOSUID | MS_NODEV | (read_only ? MS_RDONLY : 0);
	cleanup_free char *device = NULL;
	cleanup_fd int fd = read_only ? -1 : find_loop_device(image, &device);
	int r = fd < 0 ? attach(image, read_only, &fd, &device, err) : 0;

	if (r == 0 && mount(device, dir, "ext4", flags, how) < 0)
		r = error_sys(err, "cannot mount '%s' on '%s'", image, dir);
	return r;
}

bool disk_is_mounted(const char *dir)
{
	struct statx st;

	return statx(AT_FDCWD, dir, AT_SYMLINK_NOFOLLOW, 0, &st) == 0 &&
	       st.stx_attributes & STATX_ATTR_MOUNT_ROOT;
}

/* Decode octal escapes such as \040 in place. */
static void unescape(char *path)
{
	char *to = path;

	for (const char *at = path; *at; to++) {
		if (at[0] == '\\' && strspn(at + 1, "01234567") >= 3) {
			*to = (char)((at[1] - '0') << 6 | (at[2] - '0') << 3 | (at[3] - '0'));
			at += 4;
		} else {
			*to = *at++;
		}
	}
	*to = '\0';
}

/* The mount point in LINE of mountinfo; NULL if the line has none.  The caller frees it. */
static char *mount_point(const char *line)
{
	cleanup_with(strlist_release) struct strlist words = STRLIST_INIT;
	char *path;

	strlist_split(&words, line, ' ');
	if (words.count < 5)
		return NULL;
	path = xstrdup(words.items[4]);
	unescape(path);
	return path;
}

static bool is_below(const char *path, const char *dir)
{
	size_t len = strlen(dir);

	return strncmp(path, dir, len) == 0 && path[len] == '/';
}

/* Whether a file below DIR backs a loop device. */
static bool is_any_attached(const char *dir)
{
	cleanup_dir DIR *stream = opendir("/sys/block");
	struct dirent *entry;

	while (stream && (entry = readdir(stream))) {
		cleanup_with(strbuf_release) struct strbuf image = STRBUF_INIT;
		cleanup_free char *path = xasprintf("/sys/block/%s/loop/backing_file",
						    entry->d_name);

		if (file_read(path, PATH_MAX, &image, NULL) == 0 && is_below(image.text, dir))
			return true;
	}
	return false;
}

/* Unmount PATH in DIR.  Other users may be able to change the directories in between, so links are
 * not followed and nothing outside of DIR is unmounted. */
static int unmount_at(const char *dir, const char *path, struct error *err)
{
	const char *slash = strrchr(path, '/');
	cleanup_free char *parent = slash ? xstrndup(path, (size_t)(slash - path)) : xstrdup(".");
	cleanup_free char *opened = NULL;
	cleanup_fd int fd = -1;
	int r = below_open(dir, parent, O_DIRECTORY, &fd, err);

	if (r < 0)
		return r;
	opened = xasprintf("/proc/self/fd/%d/%s", fd, slash ? slash + 1 : path);
	if (umount2(opened, UMOUNT_NOFOLLOW) < 0 &&
	    umount2(opened, UMOUNT_NOFOLLOW | MNT_DETACH) < 0)
		return error_sys(err, "cannot unmount '%s/%s'", dir, path);
	return 0;
}

int disk_unmount_below(const char *dir, struct error *err)
{
	int64_t deadline = clock_now_ms() + RELEASE_MS;
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_with(strlist_release) struct strlist lines = STRLIST_INIT;
	cleanup_free char *real = realpath(dir, NULL);
	int r;

	if (!real)
		return 0;
	r = file_read("/proc/self/mountinfo", MOUNTINFO_LIMIT, &text, err);
	if (r < 0)
		return r;
	strlist_split(&lines, text.text, '\n');
	/* In reverse order: later mounts may be on top of earlier ones. */
	for (size_t i = lines.count; i-- > 0;) {
		cleanup_free char *path = mount_point(lines.items[i]);

		if (!path || !is_below(path, real))
			continue;
		r = unmount_at(real, path + strlen(real) + 1, err);
		if (r < 0)
			return r;
	}
	while (is_any_attached(real) && clock_poll(deadline, RELEASE_POLL_MS))
		;
	return 0;
}

/* Whether the process NAME in /proc is in another mount namespace than OURS and has DEVICE ("7:0")
 * mounted. */
static bool has_mounted(const char *name, const char *device, const struct stat *ours)
{
	cleanup_free char *namespace = xasprintf("/proc/%s/ns/mnt", name);
	cleanup_free char *path = xasprintf("/proc/%s/mountinfo", name);
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_with(strlist_release) struct strlist lines = STRLIST_INIT;
	const char *line;
	struct stat st;

	if (stat(namespace, &st) < 0 || st.st_ino == ours->st_ino ||
	    file_read(path, MOUNTINFO_LIMIT, &text, NULL) < 0)
		return false;
	strlist_split(&lines, text.text, '\n');
	strlist_for_each(line, &lines) {
		cleanup_with(strlist_release) struct strlist words = STRLIST_INIT;

		strlist_split(&words, line, ' ');
		if (words.count > 2 && strcmp(words.items[2], device) == 0)
			return true;
	}
	return false;
}

pid_t disk_find_holder(const char *image)
{
	cleanup_fd int fd = find_loop_device(image, NULL);
	cleanup_dir DIR *stream = opendir("/proc");
	cleanup_free char *device = NULL;
	struct dirent *entry;
	struct stat ours;
	struct stat st;

	if (fd < 0 || !stream || fstat(fd, &st) < 0 || stat("/proc/self/ns/mnt", &ours) < 0)
		return 0;
	device = xasprintf("%u:%u", major(st.st_rdev), minor(st.st_rdev));
	while ((entry = readdir(stream))) {
		unsigned long long pid;

		if (parse_number(entry->d_name, 1, INT32_MAX, &pid, NULL) == 0 &&
		    has_mounted(entry->d_name, device, &ours))
			return (pid_t)pid;
	}
	return 0;
}

int disk_read_size(const char *image, uint64_t *ret_bytes, struct error *err)
{
	/* Offsets of fields in ext4's superblock. */
	enum {
		SUPERBLOCK = 1024,
		BLOCKS = 4,
		LOG_BLOCK = 24,
		MAGIC = 56,
		BLOCKS_HIGH = 336
	};
	cleanup_fd int fd = open(image, O_RDONLY | O_CLOEXEC);
	uint8_t block[1024];
	uint32_t low;
	uint32_t high;
	uint32_t log;

	if (fd < 0)
		return error_sys(err, "cannot open '%s'", image);
	if (pread(fd, block, sizeof(block), SUPERBLOCK) != sizeof(block) || block[MAGIC] != 0x53 ||
	    block[MAGIC + 1] != 0xef)
		return error_set(err, -EBADMSG, "'%s' has no ext4 file system", image);
	memcpy(&low, block + BLOCKS, sizeof(low));
	memcpy(&high, block + BLOCKS_HIGH, sizeof(high));
	memcpy(&log, block + LOG_BLOCK, sizeof(log));
	*ret_bytes = ((uint64_t)le32toh(high) << 32 | le32toh(low)) << (10 + (le32toh(log) & 7));
	return 0;
}
