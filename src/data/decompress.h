/*
 * Decompression of gzip and zstd.
 *
 * Several members or frames in a row are one stream, as in files of pigz and of estargz.  What is
 * neither gzip nor zstd is passed on as it is.
 */
#pragma once

#include "data/stream.h"

enum decompress_kind {
	DECOMPRESS_PLAIN,
	DECOMPRESS_GZIP,
	DECOMPRESS_ZSTD,
};

/* Load the libraries, which happens on first use otherwise; -ELIBACC with reason_host_missing_tool
 * if this host lacks one.  To be called before a process gives up access to files. */
int decompress_load(struct error *err);

/* How the stream that begins with LEN bytes at DATA is compressed. */
enum decompress_kind decompress_kind_of(const void *data, size_t len);

struct decompress {
	struct stream stream;
	struct stream *below;
	enum decompress_kind kind; /* valid after the first chunk */
	bool begun;
	bool between; /* before the first or after a complete member */
	void *state;  /* of the library */
	const uint8_t *input;
	size_t input_len;
	char *output;
};

#define DECOMPRESS_INIT ((struct decompress){ .below = NULL })

/* Decompress BELOW, which is not read beyond its end.  Damaged or truncated data is -EBADMSG. */
void decompress_open(struct decompress *job, struct stream *below);

void decompress_release(struct decompress *job);
