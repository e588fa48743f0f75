/* The output of services. */

#include "agent/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/text.h"

static const uint64_t rotate_bytes = 10 << 20;

static void open_file(struct output *output)
{
	struct stat st;

	output->file = open(output->path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	if (output->file < 0) {
		say("cannot open ", output->path, ": ", strerror(errno), NULL);
		return;
	}
	output->size = fstat(output->file, &st) == 0 ? (uint64_t)st.st_size : 0;
}

static void make_dir_of(const char *path)
{
	struct text dir = { 0 };
	char *slash;

	text_add(&dir, path, NULL);
	slash = strrchr(dir.buf, '/');
	if (slash && slash != dir.buf) {
		*slash = '\0';
		(void)mkdir(dir.buf, 0755);
	}
}

void output_open(struct output *output, const char *path)
{
	int ends[2];

	*output = (struct output){ .path = path, .read_fd = -1, .write_fd = -1, .file = -1 };
	if (!path)
		return;
	make_dir_of(path);
	if (pipe2(ends, O_CLOEXEC) < 0) {
		say("cannot make a pipe: ", strerror(errno), NULL);
		return;
	}
	output->read_fd = ends[0];
	output->write_fd = ends[1];
	/* Only our end: a service must block, not fail, when the pipe is full. */
	(void)fcntl(output->read_fd, F_SETFL, O_NONBLOCK);
	open_file(output);
}

static void rotate(struct output *output)
{
	struct text old = { 0 };

	text_add(&old, output->path, ".1", NULL);
	(void)rename(output->path, old.buf);
	(void)close(output->file);
	open_file(output);
}

void output_drain(struct output *output)
{
	static char buf[65536];
	ssize_t len;

	while (output->read_fd >= 0 && (len = read(output->read_fd, buf, sizeof(buf))) > 0) {
		if (output->file >= 0 && output->size > 0 &&
		    output->size + (uint64_t)len > rotate_bytes)
			rotate(output);
		if (output->file < 0)
			open_file(output);
		if (output->file >= 0)
			write_all(output->file, buf, (size_t)len);
		output->size += (uint64_t)len;
	}
}
