/*
 * Files that services wait for.
 *
 * A file counts as present once it is complete.  If writing ends while we watch, the kernel sends
 * an event (IN_CLOSE_WRITE, IN_MOVED_TO).  A file that exists before we watch may be incomplete:
 * the kernel refuses a read lease while the file is open for writing, and IN_CLOSE_WRITE follows
 * later.
 */

#include "agent/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "agent/text.h"

static int inotify = -1;

int watch_open(void)
{
	inotify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (inotify < 0)
		say("cannot watch files: ", strerror(errno), NULL);
	return inotify;
}

static bool is_complete(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	bool complete;

	if (fd < 0)
		return false;
	complete = fcntl(fd, F_SETLEASE, F_RDLCK) == 0 || errno != EAGAIN;
	(void)close(fd);
	return complete;
}

/* Watch the file's directory, or its nearest existing parent. */
static void watch_dir(struct watch *watch)
{
	struct text path = { 0 };
	struct text below;
	bool missing = false;
	char *slash;

	text_add(&path, watch->path, NULL);
	do {
		below = path;
		slash = strrchr(path.buf, '/');
		/* The directory of "/a" is "/". */
		slash[slash == path.buf] = '\0';
		watch->dir = inotify_add_watch(inotify, path.buf,
					       IN_CREATE | IN_CLOSE_WRITE | IN_MOVED_TO |
						       IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR);
		if (watch->dir >= 0 || errno != ENOENT)
			break;
		missing = true;
	} while (slash != path.buf);
	if (watch->dir < 0)
		say("cannot watch ", path.buf, ": ", strerror(errno), NULL);
	/* The next directory may have appeared between the two calls, without an event. */
	else if (missing && access(below.buf, F_OK) == 0)
		watch_dir(watch);
}

void watch_look(struct watch *watch)
{
	if (!watch->path || watch->there)
		return;
	watch_dir(watch);
	watch->there = is_complete(watch->path);
}

static void take_event(const struct inotify_event *event, struct watch *watches, unsigned count)
{
	if (!(event->mask & (IN_CLOSE_WRITE | IN_MOVED_TO)) || event->len == 0)
		return;
	for (unsigned i = 0; i < count; i++) {
		const char *slash = watches[i].path ? strrchr(watches[i].path, '/') : NULL;

		if (slash && watches[i].dir == event->wd && strcmp(slash + 1, event->name) == 0)
			watches[i].there = access(watches[i].path, F_OK) == 0;
	}
}

void watch_read(struct watch *watches, unsigned count)
{
	static char buf[16384] __attribute__((aligned(__alignof__(struct inotify_event))));
	ssize_t len;

	while ((len = read(inotify, buf, sizeof(buf))) > 0) {
		for (char *p = buf; p < buf + len;) {
			const struct inotify_event *event = (const void *)p;

			take_event(event, watches, count);
			p += sizeof(*event) + event->len;
		}
	}
	for (unsigned i = 0; i < count; i++)
		watch_look(&watches[i]);
}
