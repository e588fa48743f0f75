/* Locks: flock() on files, with the holder's name. */

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/file.h>
#include <sys/sysmacros.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/parse.h"

/* How often a lock is tried again. */
#define POLL_MS 10

/* "PID WHAT" as the holder wrote it, or empty. */
static void read_holder(int fd, struct strbuf *ret)
{
	char text[256];
	ssize_t len = pread(fd, text, sizeof(text), 0);

	if (len > 0)
		strbuf_add_mem(ret, text, (size_t)len);
	strbuf_trim_end(ret);
}

/* Whether PLACE, "MAJOR:MINOR:INODE" of /proc/locks, is the file ST.  Some file systems report
 * another device there than fstat() does: there the inode alone counts, unless EXACTLY. */
static bool is_place_of(const char *place, const struct stat *st, bool exactly)
{
	cleanup_free char *wanted = xasprintf("%02x:%02x:%llu", major(st->st_dev),
					      minor(st->st_dev), (unsigned long long)st->st_ino);

	return strcmp(exactly ? place : strrchr(place, ':') ?: "",
		      exactly ? wanted : strrchr(wanted, ':')) == 0;
}

/*
 * Find the process that holds a lock on the file ST in /proc/locks, or only the process WANTED (0:
 * any); 0 if it is not listed.  Lines are "1: FLOCK ADVISORY WRITE PID MAJOR:MINOR:INODE 0 EOF";
 * for waiting processes, "->" follows the number.
 */
static pid_t find_holder(const struct stat *st, pid_t wanted, bool exactly)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_with(strlist_release) struct strlist lines = STRLIST_INIT;
	const char *line;

	if (file_read("/proc/locks", 16 << 20, &text, NULL) < 0)
		return 0;
	strlist_split(&lines, text.text, '\n');
	strlist_for_each(line, &lines) {
		char kind[16];
		char place[64];
		int pid;

		if (sscanf(line, "%*s %15s %*s %*s %d %63s", kind, &pid, place) == 3 &&
		    strcmp(kind, "FLOCK") == 0 && (!wanted || pid == wanted) &&
		    is_place_of(place, st, exactly))
			return pid;
	}
	return 0;
}

static int name_holder(int fd, struct error *err)
{
	cleanup_with(strbuf_release) struct strbuf note = STRBUF_INIT;
	cleanup_with(strbuf_release) struct strbuf name = STRBUF_INIT;
	cleanup_free char *start = NULL;
	cleanup_free char *path = NULL;
	struct stat st;
	pid_t pid = fstat(fd, &st) == 0 ? find_holder(&st, 0, true) : 0;

	read_holder(fd, &note);
	start = xasprintf("%d ", (int)pid);
	/* The note in the file was not written by the holder: name the process instead. */
	if (pid > 0 && strncmp(note.text, start, strlen(start)) != 0) {
		path = xasprintf("/proc/%d/comm", (int)pid);
		(void)file_read(path, 64, &name, NULL);
		strbuf_trim_end(&name);
		return error_set(err, -EWOULDBLOCK, "locked by process %d (%s)", (int)pid,
				 name.len ? name.text : "unknown");
	}
	return error_set(err, -EWOULDBLOCK, "locked by process %s",
			 note.len ? note.text : "(unknown)");
}

int file_lock_fd(int fd, const char *shown, int64_t wait_ms, struct error *err)
{
	int64_t deadline = clock_now_ms() + wait_ms;

	while (flock(fd, LOCK_EX | (wait_ms < 0 ? 0 : LOCK_NB)) < 0) {
		if (errno != EINTR && errno != EWOULDBLOCK)
			return error_sys(err, "cannot take the lock '%s'", shown);
		if (errno == EINTR)
			continue;
		if (!clock_poll(deadline, POLL_MS))
			return name_holder(fd, err);
	}
	return 0;
}

int file_lock_or_warn(int fd, const char *shown, int64_t wait_ms, struct error *err)
{
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	int r = file_lock_fd(fd, shown, wait_ms, &why);

	if (r == -EWOULDBLOCK) {
		log_warning("'%s' is changed without its lock: %s", shown, why.text);
		return 0;
	}
	return r < 0 ? error_set(err, r, "%s", why.text) : 0;
}

/* Whether PATH is still the file FD: the previous holder may have removed it before unlocking. */
static bool is_current(const char *path, int fd)
{
	struct stat named;
	struct stat held;

	return lstat(path, &named) == 0 && fstat(fd, &held) == 0 && named.st_ino == held.st_ino &&
	       named.st_dev == held.st_dev;
}

static int lock(const char *path, const char *what, mode_t mode, int64_t wait_ms, int *ret_fd,
		struct error *err)
{
	cleanup_free char *line = xasprintf("%d %s\n", (int)getpid(), what);

	for (;;) {
		cleanup_fd int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, mode);
		int r;

		if (fd < 0)
			return error_sys(err, "cannot open the lock '%s'", path);
		/* Correct the mode of files made by earlier versions or with another umask. */
		(void)fchmod(fd, mode);
		r = file_lock_fd(fd, path, wait_ms, err);
		if (r < 0)
			return r;
		if (!is_current(path, fd))
			continue;
		if (ftruncate(fd, 0) < 0 || pwrite(fd, line, strlen(line), 0) < 0)
			return error_sys(err, "cannot write the lock '%s'", path);
		*ret_fd = take_fd(fd);
		return 0;
	}
}

int file_lock(const char *path, const char *what, int *ret_fd, struct error *err)
{
	return lock(path, what, 0644, 0, ret_fd, err);
}

int file_lock_private(const char *path, const char *what, int64_t wait_ms, int *ret_fd,
		      struct error *err)
{
	return lock(path, what, 0600, wait_ms, ret_fd, err);
}

/* Whether all uids of the process PID are that of OWNER or 0: a program that is set-user-ID has
 * only some of them. */
static bool belongs_to(pid_t pid, uid_t owner)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_free char *path = xasprintf("/proc/%d/status", (int)pid);
	unsigned ids[4];
	const char *line;

	if (file_read(path, 65536, &text, NULL) < 0)
		return false;
	line = strstr(text.text, "\nUid:");
	if (!line || sscanf(line, "\nUid: %u %u %u %u", &ids[0], &ids[1], &ids[2], &ids[3]) != 4)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(ids); i++)
		if (ids[i] != 0 && ids[i] != owner)
			return false;
	return true;
}

pid_t file_lock_holder(const char *path)
{
	cleanup_with(strbuf_release) struct strbuf note = STRBUF_INIT;
	cleanup_fd int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	unsigned long long noted;
	struct stat st;
	pid_t pid;

	/* A private lock of root's; as we are not root, we only want to show who holds it. */
	if (fd < 0 && errno == EACCES && lstat(path, &st) == 0)
		return find_holder(&st, 0, true) ?: find_holder(&st, 0, false);
	if (fd < 0)
		return 0;
	read_holder(fd, &note);
	note.text[strcspn(note.text, " ")] = '\0';
	if (fstat(fd, &st) < 0 || parse_number(note.text, 1, INT_MAX, &noted, NULL) < 0)
		return 0;
	pid = find_holder(&st, (pid_t)noted, false);
	return pid > 0 && (geteuid() != 0 || belongs_to(pid, st.st_uid)) ? pid : 0;
}

void file_unlock(int *fd)
{
	if (*fd >= 0)
		(void)!ftruncate(*fd, 0);
	cleanup_fd_(fd);
	*fd = -1;
}
