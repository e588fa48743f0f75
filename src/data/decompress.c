/* Decompression of gzip and zstd. */

#include "data/decompress.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "base/alloc.h"

#define CHUNK (1024 * 1024)

/* Makes zlib expect gzip's header, and no other one. */
#define GZIP_ONLY (16 + MAX_WBITS)

enum decompress_kind decompress_kind_of(const void *data, size_t len)
{
	if (len >= 3 && memcmp(data, "\x1f\x8b\x08", 3) == 0)
		return DECOMPRESS_GZIP;
	if (len >= 4 && memcmp(data, "\x28\xb5\x2f\xfd", 4) == 0)
		return DECOMPRESS_ZSTD;
	return DECOMPRESS_PLAIN;
}

/* Decompress input to ROOM, which has LEN bytes; RET_LEN is how many were made. */
static int run_gzip(struct decompress *job, char *room, size_t len, size_t *ret_len,
		    struct error *err)
{
	z_stream *z = job->state;
	int r;

	z->next_in = (Bytef *)(uintptr_t)job->input;
	z->avail_in = (uInt)MIN(job->input_len, (size_t)UINT32_MAX);
	z->next_out = (Bytef *)room;
	z->avail_out = (uInt)len;
	r = inflate(z, Z_NO_FLUSH);
	job->input_len -= (size_t)(z->next_in - job->input);
	job->input = z->next_in;
	*ret_len = len - z->avail_out;
	job->between = r == Z_STREAM_END;
	if (r == Z_STREAM_END)
		r = inflateReset(z);
	if (r != Z_OK && r != Z_BUF_ERROR)
		return error_set(err, -EBADMSG, "damaged gzip data");
	return 0;
}

static int run_zstd(struct decompress *job, char *room, size_t len, size_t *ret_len,
		    struct error *err)
{
	ZSTD_inBuffer in = { .src = job->input, .size = job->input_len };
	ZSTD_outBuffer out = { .dst = room, .size = len };
	size_t r = ZSTD_decompressStream(job->state, &out, &in);

	if (ZSTD_isError(r))
		return error_set(err, -EBADMSG, "damaged zstd data: %s", ZSTD_getErrorName(r));
	job->input += in.pos;
	job->input_len -= in.pos;
	job->between = r == 0;
	*ret_len = out.pos;
	return 0;
}

static int get_input(struct decompress *job, struct error *err)
{
	const void *data;
	int r = job->below->next(job->below, &data, &job->input_len, err);

	if (r == 0)
		job->input = data;
	return r;
}

static void begin_kind(struct decompress *job)
{
	job->begun = true;
	job->between = true;
	job->kind = decompress_kind_of(job->input, job->input_len);
	if (job->kind == DECOMPRESS_PLAIN)
		return;
	job->output = xmalloc(CHUNK);
	if (job->kind == DECOMPRESS_GZIP) {
		job->state = xcalloc(1, sizeof(z_stream));
		if (inflateInit2((z_stream *)job->state, GZIP_ONLY) != Z_OK)
			abort();
		return;
	}
	job->state = ZSTD_createDStream();
	if (!job->state)
		abort();
}

static int fill_output(struct decompress *job, size_t *ret_len, struct error *err)
{
	size_t len = 0;

	while (len < CHUNK) {
		size_t made = 0;
		int r = job->input_len ? 0 : get_input(job, err);

		if (r < 0)
			return r;
		if (job->input_len == 0 && job->between)
			break;
		/* Without input, a library may still hold output back. */
		r = job->kind == DECOMPRESS_GZIP
			    ? run_gzip(job, job->output + len, CHUNK - len, &made, err)
			    : run_zstd(job, job->output + len, CHUNK - len, &made, err);
		if (r < 0)
			return r;
		if (made == 0 && job->input_len == 0 && !job->between) {
			r = get_input(job, err);
			if (r < 0)
				return r;
			if (job->input_len == 0)
				return error_set(err, -EBADMSG, "the compressed data is truncated");
		}
		len += made;
	}
	*ret_len = len;
	return 0;
}

static int next_inflated(struct stream *stream, const void **ret_data, size_t *ret_len,
			 struct error *err)
{
	struct decompress *job = (struct decompress *)stream;
	int r;

	if (!job->begun) {
		r = get_input(job, err);
		if (r < 0)
			return r;
		begin_kind(job);
	} else if (job->kind == DECOMPRESS_PLAIN) {
		r = get_input(job, err);
		if (r < 0)
			return r;
	}
	if (job->kind == DECOMPRESS_PLAIN) {
		*ret_data = job->input;
		*ret_len = job->input_len;
		return 0;
	}
	*ret_data = job->output;
	return fill_output(job, ret_len, err);
}

void decompress_open(struct decompress *job, struct stream *below)
{
	*job = (struct decompress){ .stream = { .next = next_inflated }, .below = below };
}

void decompress_release(struct decompress *job)
{
	if (job->state && job->kind == DECOMPRESS_GZIP) {
		(void)inflateEnd((z_stream *)job->state);
		free(job->state);
	}
	if (job->state && job->kind == DECOMPRESS_ZSTD)
		(void)ZSTD_freeDStream(job->state);
	free(job->output);
	*job = DECOMPRESS_INIT;
}
