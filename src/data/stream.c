/* Streams of bytes. */

#include "data/stream.h"

#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"

static ssize_t read_some(struct stream_file *file, char *room, size_t len)
{
	ssize_t got;

	do
		got = file->is_range ? pread(file->fd, room, len, (off_t)file->offset)
				     : read(file->fd, room, len);
	while (got < 0 && errno == EINTR);
	return got;
}

/* Pipes give less than was asked for, so read until the buffer is full. */
static int next_of_file(struct stream *stream, const void **ret_data, size_t *ret_len,
			struct error *err)
{
	struct stream_file *file = (struct stream_file *)stream;
	size_t wanted = (size_t)MIN((uint64_t)file->capacity, file->left);
	size_t len = 0;

	if (!file->buffer)
		file->buffer = xmalloc(file->capacity);
	while (len < wanted) {
		ssize_t got = read_some(file, file->buffer + len, wanted - len);

		if (got < 0)
			return error_sys(err, "cannot read");
		if (got == 0 && file->is_range)
			return error_set(err, -EBADMSG, "the file is truncated");
		if (got == 0)
			file->left = len;
		if (got == 0)
			break;
		len += (size_t)got;
		file->offset += (uint64_t)got;
	}
	file->left -= len;
	*ret_data = file->buffer;
	*ret_len = len;
	return 0;
}

static int skip_in_file(struct stream *stream, uint64_t len, struct error *err)
{
	struct stream_file *file = (struct stream_file *)stream;

	if (len > file->left)
		return error_set(err, -EBADMSG, "the file is truncated");
	file->offset += len;
	file->left -= len;
	return 0;
}

void stream_file_open(struct stream_file *file, int fd, size_t capacity)
{
	*file = (struct stream_file){
		.stream = { .next = next_of_file },
		.fd = fd,
		.left = UINT64_MAX,
		.capacity = capacity,
	};
}

void stream_range_open(struct stream_file *file, int fd, uint64_t offset, uint64_t len,
		       size_t capacity)
{
	*file = (struct stream_file){
		.stream = { .next = next_of_file, .skip = skip_in_file },
		.fd = fd,
		.is_range = true,
		.offset = offset,
		.left = len,
		.capacity = capacity,
	};
}

void stream_file_release(struct stream_file *file)
{
	free(file->buffer);
	*file = STREAM_FILE_INIT;
}

static int next_of_memory(struct stream *stream, const void **ret_data, size_t *ret_len,
			  arg_unused struct error *err)
{
	struct stream_memory *memory = (struct stream_memory *)stream;

	*ret_data = memory->data;
	*ret_len = memory->len;
	memory->len = 0;
	return 0;
}

void stream_memory_open(struct stream_memory *memory, const void *data, size_t len)
{
	*memory = (struct stream_memory){
		.stream = { .next = next_of_memory },
		.data = data,
		.len = len,
	};
}

static int next_of_tap(struct stream *stream, const void **ret_data, size_t *ret_len,
		       struct error *err)
{
	struct stream_tap *tap = (struct stream_tap *)stream;
	int r = tap->below->next(tap->below, ret_data, ret_len, err);

	return r == 0 && *ret_len ? tap->seen(tap->arg, *ret_data, *ret_len, err) : r;
}

void stream_tap_open(struct stream_tap *tap, struct stream *below,
		     int (*seen)(void *arg, const void *data, size_t len, struct error *err),
		     void *arg)
{
	*tap = (struct stream_tap){
		.stream = { .next = next_of_tap },
		.below = below,
		.seen = seen,
		.arg = arg,
	};
}

int stream_drain_most(struct stream *stream, uint64_t most, struct error *err)
{
	const void *data;
	size_t len = 1;
	int r = 0;

	while (r == 0 && len > 0) {
		r = stream->next(stream, &data, &len, err);
		if (r == 0 && len > most)
			return error_set(err, -EBADMSG, "too much follows its end");
		most -= r == 0 ? len : 0;
	}
	return r;
}

int stream_drain(struct stream *stream, struct error *err)
{
	return stream_drain_most(stream, UINT64_MAX, err);
}
