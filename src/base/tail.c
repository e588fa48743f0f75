/* Following growing files. */

#include "base/tail.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/below.h"
#include "base/cleanup.h"
#include "base/file.h"

#define BLOCK 65536

/* Add the bytes from the offset up to END. */
static int read_up_to(struct tail *tail, const char *path, off_t end, struct strbuf *out,
		      struct error *err)
{
	while (tail->offset < end) {
		size_t want = (size_t)MIN(end - tail->offset, (off_t)BLOCK);
		ssize_t len = pread(tail->fd, strbuf_grow(out, want), want, tail->offset);

		if (len < 0)
			return error_sys(err, "cannot read '%s'", path);
		if (len == 0)
			return 0;
		strbuf_grown(out, (size_t)len);
		tail->offset += len;
	}
	return 0;
}

int tail_end(const char *dir, const char *path, size_t most, struct tail *tail, struct strbuf *out,
	     struct error *err)
{
	struct stat st;
	int fd = -1;
	int r = below_open(dir, path, 0, &fd, err);

	if (r < 0)
		return r;
	tail_release(tail);
	tail->fd = fd;
	if (fstat(fd, &st) < 0)
		return error_sys(err, "cannot read '%s'", path);
	tail->offset = MAX(st.st_size - (off_t)most, 0);
	return read_up_to(tail, path, st.st_size, out, err);
}

int tail_more(const char *dir, const char *path, size_t most, struct tail *tail, struct strbuf *out,
	      struct error *err)
{
	cleanup_fd int fd = -1;
	struct stat now;
	struct stat named;
	int r;

	if (fstat(tail->fd, &now) < 0)
		return error_sys(err, "cannot read '%s'", path);
	if (now.st_size < tail->offset)
		tail->offset = 0;
	r = read_up_to(tail, path, MIN(now.st_size, tail->offset + (off_t)most), out, err);
	if (r < 0)
		return r;
	if (below_open(dir, path, 0, &fd, NULL) == 0 && fstat(fd, &named) == 0 &&
	    (named.st_ino != now.st_ino || named.st_dev != now.st_dev)) {
		tail_release(tail);
		tail->fd = take_fd(fd);
	}
	return 0;
}

void tail_release(struct tail *tail)
{
	if (tail->fd >= 0)
		(void)close(tail->fd);
	*tail = TAIL_INIT;
}

bool tail_keep_lines(struct strbuf *text, unsigned lines)
{
	if (lines == 0) {
		strbuf_reset(text);
		return true;
	}
	for (size_t at = text->len; at > 0; at--) {
		/* No line begins after a newline at the end of the text. */
		if (text->text[at - 1] == '\n' && at < text->len && lines-- == 1) {
			strbuf_drop_front(text, at);
			return true;
		}
	}
	return false;
}
