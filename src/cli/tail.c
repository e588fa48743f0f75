/* The ends of log files, and what is added to them. */

#include "cli/tail.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/below.h"
#include "base/cleanup.h"
#include "base/file.h"

#define MOST  (16 << 20)
#define BLOCK 65536

int tail_open(const char *folder, const char *path, struct tail *ret, struct error *err)
{
	int fd = -1;
	int r = below_open(folder, path, 0, &fd, err);

	if (r == 0)
		*ret = (struct tail){ xstrdup(folder), xstrdup(path), .fd = fd };
	return r;
}

/* Add the bytes from the offset up to END. */
static int read_up_to(struct tail *tail, off_t end, struct strbuf *out, struct error *err)
{
	while (tail->offset < end) {
		size_t want = (size_t)MIN(end - tail->offset, (off_t)BLOCK);
		ssize_t len = pread(tail->fd, strbuf_grow(out, want), want, tail->offset);

		if (len < 0)
			return error_sys(err, "cannot read '%s'", tail->path);
		if (len == 0)
			return 0;
		strbuf_grown(out, (size_t)len);
		tail->offset += len;
	}
	return 0;
}

/* Where the last LINES lines begin. */
static int find_lines(const struct tail *tail, off_t size, unsigned lines, off_t *ret,
		      struct error *err)
{
	cleanup_free char *block = xmalloc(BLOCK);
	off_t least = size > MOST ? size - MOST : 0;
	off_t at = size;

	while (at > least) {
		off_t start = MAX(at - BLOCK, least);
		ssize_t len = pread(tail->fd, block, (size_t)(at - start), start);

		if (len < at - start)
			return len < 0 ? error_sys(err, "cannot read '%s'", tail->path)
				       : error_set(err, -EIO, "'%s' became shorter", tail->path);
		while (at > start) {
			/* The line break that ends the file begins no line. */
			if (block[at - start - 1] == '\n' && at < size && lines-- <= 1) {
				*ret = at;
				return 0;
			}
			at--;
		}
	}
	*ret = least;
	return 0;
}

int tail_last(struct tail *tail, unsigned lines, struct strbuf *out, struct error *err)
{
	struct stat st;
	int r;

	if (fstat(tail->fd, &st) < 0)
		return error_sys(err, "cannot read '%s'", tail->path);
	tail->offset = st.st_size;
	if (lines == 0)
		return 0;
	r = find_lines(tail, st.st_size, lines, &tail->offset, err);
	if (r < 0)
		return r;
	return read_up_to(tail, st.st_size, out, err);
}

int tail_more(struct tail *tail, struct strbuf *out, struct error *err)
{
	cleanup_fd int fd = -1;
	struct stat now;
	struct stat named;
	int r;

	if (fstat(tail->fd, &now) < 0)
		return error_sys(err, "cannot read '%s'", tail->path);
	if (now.st_size < tail->offset)
		tail->offset = 0;
	r = read_up_to(tail, MIN(now.st_size, tail->offset + MOST), out, err);
	if (r < 0)
		return r;
	if (below_open(tail->folder, tail->path, 0, &fd, NULL) == 0 && fstat(fd, &named) == 0 &&
	    (named.st_ino != now.st_ino || named.st_dev != now.st_dev)) {
		(void)close(tail->fd);
		tail->fd = take_fd(fd);
		tail->offset = 0;
	}
	return 0;
}

void tail_release(struct tail *tail)
{
	free(tail->folder);
	free(tail->path);
	if (tail->fd >= 0)
		(void)close(tail->fd);
	*tail = (struct tail){ .fd = -1 };
}
