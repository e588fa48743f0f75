/*
 * Streams of bytes that are read once, in chunks that are not copied.
 *
 * All chunks of a stream but its last have at least STREAM_LEAST bytes, so that a reader finds a
 * magic number in the first one.
 */
#pragma once

#include <sys/types.h>

#include <stdint.h>

#include "base/error.h"

#define STREAM_LEAST 512

struct stream {
	/* Set RET_DATA to the next bytes, which are valid until the next call; RET_LEN is 0 at the
	 * end, which may be asked for repeatedly. */
	int (*next)(struct stream *stream, const void **ret_data, size_t *ret_len,
		    struct error *err);

	/* Leave out the next LEN bytes without reading them.  NULL if they have to be read. */
	int (*skip)(struct stream *stream, uint64_t len, struct error *err);
};

/* The bytes of a descriptor, which the caller owns. */
struct stream_file {
	struct stream stream;
	int fd;
	bool is_range;   /* read with pread(); otherwise from the current offset on */
	uint64_t offset; /* of the range: the next byte */
	uint64_t left;
	char *buffer;
	size_t capacity;
};

#define STREAM_FILE_INIT ((struct stream_file){ .fd = -1 })

/* Read FD, which need not be seekable, from its current offset to its end, in chunks of CAPACITY
 * bytes. */
void stream_file_open(struct stream_file *file, int fd, size_t capacity);

/* Read LEN bytes of FD from OFFSET on.  -EBADMSG if the file ends before. */
void stream_range_open(struct stream_file *file, int fd, uint64_t offset, uint64_t len,
		       size_t capacity);

void stream_file_release(struct stream_file *file);

/* LEN bytes at DATA, which stay the caller's. */
struct stream_memory {
	struct stream stream;
	const void *data;
	size_t len;
};

void stream_memory_open(struct stream_memory *memory, const void *data, size_t len);

/* A stream that calls SEEN with each chunk of the stream BELOW; a negative result ends it. */
struct stream_tap {
	struct stream stream;
	struct stream *below;
	int (*seen)(void *arg, const void *data, size_t len, struct error *err);
	void *arg;
};

void stream_tap_open(struct stream_tap *tap, struct stream *below,
		     int (*seen)(void *arg, const void *data, size_t len, struct error *err),
		     void *arg);

/* Read STREAM to its end. */
int stream_drain(struct stream *stream, struct error *err);

/* The same, but -EBADMSG if there are more than MOST bytes. */
int stream_drain_most(struct stream *stream, uint64_t most, struct error *err);
