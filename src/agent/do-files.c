/*
 * Files of a VM, for the host: `manykube-agent do VERB WORDS...`.
 *
 * The exit status is 0 or an errno.  Only regular files and directories are opened, and links in
 * the last component are followed only where the host says so.
 */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/do.h"
#include "agent/text.h"
#include "agent/vm.h"

static int open_file(const char *path, int flags, struct stat *ret)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | flags);

	if (fd >= 0 && fstat(fd, ret) == 0 && (S_ISREG(ret->st_mode) || S_ISDIR(ret->st_mode)))
		return fd;
	if (fd >= 0) {
		(void)close(fd);
		errno = EINVAL;
	}
	return -1;
}

/* Copy at most MOST bytes of FD to standard output; returns an errno. */
static int copy_out(int fd, uint64_t most)
{
	char block[16384];

	while (most > 0) {
		size_t want = most < sizeof(block) ? (size_t)most : sizeof(block);
		ssize_t len = read(fd, block, want);

		if (len < 0 && errno == EINTR)
			continue;
		if (len < 0)
			return errno;
		if (len == 0)
			break;
		if (fwrite(block, 1, (size_t)len, stdout) != (size_t)len)
			return EIO;
		most -= (size_t)len;
	}
	return fflush(stdout) == 0 ? 0 : EIO;
}

/* read PATH LIMIT [links] */
static int do_read(char *const *words)
{
	uint64_t limit = number_of(words[1], UINT64_MAX);
	struct stat st;
	int fd = open_file(words[0], words[2] ? 0 : O_NOFOLLOW, &st);
	int r;

	if (fd < 0)
		return errno;
	if (S_ISDIR(st.st_mode))
		return EISDIR;
	if ((uint64_t)st.st_size > limit)
		return EFBIG;
	r = copy_out(fd, limit);
	(void)close(fd);
	return r;
}

/* look PATH: "d|f SIZE SECONDS NANOSECONDS" */
static int do_look(char *const *words)
{
	struct stat st;
	int fd = open_file(words[0], O_NOFOLLOW, &st);

	if (fd < 0)
		return errno;
	(void)printf("%c %llu %lld %ld\n", S_ISDIR(st.st_mode) ? 'd' : 'f',
		     (unsigned long long)st.st_size, (long long)st.st_mtim.tv_sec,
		     st.st_mtim.tv_nsec);
	(void)close(fd);
	return 0;
}

/* list PATH MOST: names, one per line, and an empty line if there are more */
static int do_list(char *const *words)
{
	uint64_t most = number_of(words[1], UINT64_MAX);
	struct dirent *entry;
	struct stat st;
	int fd = open_file(words[0], O_NOFOLLOW | O_DIRECTORY, &st);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;

	if (!dir)
		return errno;
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] == '.' || strchr(entry->d_name, '\n'))
			continue;
		(void)puts(most > 0 ? entry->d_name : "");
		if (most-- == 0)
			break;
	}
	(void)closedir(dir);
	return 0;
}

/* tail PATH MOST OFFSET: from OFFSET on, or the end if that is "end"; the first line is the offset
 * after it.  A file that became shorter was rotated. */
static int do_tail(char *const *words)
{
	off_t most = (off_t)number_of(words[1], INT32_MAX);
	off_t offset = (off_t)number_of(words[2], INT64_MAX);
	struct stat st;
	int fd = open_file(words[0], O_NOFOLLOW, &st);
	off_t end;
	int r;

	if (fd < 0)
		return errno;
	if (S_ISDIR(st.st_mode))
		return EISDIR;
	if (strcmp(words[2], "end") == 0)
		offset = st.st_size > most ? st.st_size - most : 0;
	else if (offset > st.st_size)
		offset = 0;
	end = st.st_size - offset > most ? offset + most : st.st_size;
	(void)printf("%lld\n", (long long)end);
	r = lseek(fd, offset, SEEK_SET) < 0 ? errno : copy_out(fd, (uint64_t)(end - offset));
	(void)close(fd);
	return r;
}

/* Make the directories above the last component of PATH. */
static int make_parents(const char *path, mode_t mode)
{
	char part[PATH_MAX];

	if (strlen(path) >= sizeof(part) || *path != '/')
		return ENAMETOOLONG;
	for (const char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		(void)snprintf(part, sizeof(part), "%.*s", (int)(slash - path), path);
		if (mkdir(part, mode) < 0 && errno != EEXIST)
			return errno;
	}
	return 0;
}

/* Copy LEN bytes of standard input to FD; returns an errno. */
static int copy_in(int fd, unsigned long long len)
{
	char block[16384];

	while (len > 0) {
		size_t want = len < sizeof(block) ? (size_t)len : sizeof(block);

		if (fread(block, 1, want, stdin) != want)
			return EPIPE;
		if (write(fd, block, want) != (ssize_t)want)
			return errno ? errno : ENOSPC;
		len -= want;
	}
	return 0;
}

static int put_file(const char *path, mode_t mode, unsigned long long len)
{
	char fresh[PATH_MAX];
	int fd;
	int r = make_parents(path, 0755);

	if (r)
		return r;
	if (snprintf(fresh, sizeof(fresh), "%s.new", path) >= (int)sizeof(fresh))
		return ENAMETOOLONG;
	(void)unlink(fresh);
	fd = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
	if (fd < 0)
		return errno;
	r = copy_in(fd, len);
	if (r == 0 && (fchmod(fd, mode) < 0 || rename(fresh, path) < 0))
		r = errno;
	(void)close(fd);
	return r;
}

static int make_link(const char *path, unsigned long long len)
{
	char target[PATH_MAX];
	int r = make_parents(path, 0755);

	if (len >= sizeof(target) || fread(target, 1, (size_t)len, stdin) != (size_t)len)
		return EPIPE;
	target[len] = '\0';
	if (r == 0 && symlink(target, path) < 0 && errno != EEXIST)
		r = errno;
	return r;
}

static int make_directory(const char *path, mode_t mode)
{
	int r = make_parents(path, mode);

	return r == 0 && mkdir(path, mode) < 0 && errno != EEXIST ? errno : r;
}

static int remove_file(const char *path)
{
	if (unlink(path) == 0 || errno == ENOENT || errno == ENOTDIR)
		return 0;
	return errno == EISDIR && rmdir(path) == 0 ? 0 : errno;
}

/*
 * apply: changes from standard input, each a line "VERB MODE LENGTH PATH" and LENGTH bytes.  The
 * first that fails ends it.
 */
static int do_apply(char *const *words)
{
	char line[PATH_MAX + 64];
	char path[PATH_MAX];
	char verb[16];
	unsigned long long len;
	unsigned mode;
	int r = 0;

	(void)words;
	while (r == 0 && fgets(line, sizeof(line), stdin)) {
		if (sscanf(line, "%15s %o %llu %4095[^\n]", verb, &mode, &len, path) != 4)
			return EPROTO;
		if (strcmp(verb, "put") == 0)
			r = put_file(path, mode, len);
		else if (strcmp(verb, "link") == 0)
			r = make_link(path, len);
		else if (strcmp(verb, "mkdir") == 0)
			r = make_directory(path, mode);
		else if (strcmp(verb, "remove") == 0)
			r = remove_file(path);
		else
			r = EPROTO;
	}
	return r;
}

/* rename FROM TO */
static int do_rename(char *const *words)
{
	int r = make_parents(words[1], 0755);

	return r == 0 && rename(words[0], words[1]) < 0 ? errno : r;
}

/* grow: the root file system, after the disk has grown */
static int do_grow(char *const *words)
{
	(void)words;
	return vm_grow_disk();
}

const struct verb file_verbs[] = {
	{ "read", 2, do_read }, { "look", 1, do_look },   { "list", 2, do_list },
	{ "tail", 3, do_tail }, { "apply", 0, do_apply }, { "rename", 2, do_rename },
	{ "grow", 0, do_grow }, { NULL, 0, NULL },
};
