/*
 * Decompression of gzip and zstd.
 *
 * Most commands decompress nothing, and loading two libraries would take a tenth of the time that
 * `manykube version` does.  So they are loaded on first use, like libcurl (api/curl.h).
 */

#include "data/decompress.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "base/alloc.h"

#define CHUNK (1024 * 1024)

/* Makes zlib expect gzip's header, and no other one. */
#define GZIP_ONLY (16 + MAX_WBITS)

/* Functions with the types that the libraries' headers declare. */
static struct {
	__typeof__(inflateInit2_) *inflate_init;
	__typeof__(inflate) *inflate;
	__typeof__(inflateReset) *inflate_reset;
	__typeof__(inflateEnd) *inflate_end;
	__typeof__(ZSTD_createDStream) *zstd_create;
	__typeof__(ZSTD_decompressStream) *zstd_decompress;
	__typeof__(ZSTD_isError) *zstd_is_error;
	__typeof__(ZSTD_getErrorName) *zstd_error_name;
	__typeof__(ZSTD_freeDStream) *zstd_free;
} library;

#define ZLIB "libz.so.1"
#define ZSTD "libzstd.so.1"

static const struct {
	const char *file;
	const char *name;
	void *place;
} functions[] = {
	{ ZLIB, "inflateInit2_", &library.inflate_init },
	{ ZLIB, "inflate", &library.inflate },
	{ ZLIB, "inflateReset", &library.inflate_reset },
	{ ZLIB, "inflateEnd", &library.inflate_end },
	{ ZSTD, "ZSTD_createDStream", &library.zstd_create },
	{ ZSTD, "ZSTD_decompressStream", &library.zstd_decompress },
	{ ZSTD, "ZSTD_isError", &library.zstd_is_error },
	{ ZSTD, "ZSTD_getErrorName", &library.zstd_error_name },
	{ ZSTD, "ZSTD_freeDStream", &library.zstd_free },
};

int decompress_load(struct error *err)
{
	static bool loaded;

	for (size_t i = 0; !loaded && i < ARRAY_SIZE(functions); i++) {
		/* Libraries are never unloaded. */
		void *file = dlopen(functions[i].file, RTLD_NOW | RTLD_LOCAL);
		void *address = file ? dlsym(file, functions[i].name) : NULL;

		if (!address) {
			const char *why = dlerror();

			error_because(err, &reason_host_missing_tool, -ELIBACC,
				      "cannot load a library: %s", why ? why : "unknown error");
			return error_hint(err, -ELIBACC,
					  "on Debian and Ubuntu, install the packages 'zlib1g' and "
					  "'libzstd1'");
		}
		memcpy(functions[i].place, &address, sizeof(address));
	}
	loaded = true;
	return 0;
}

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
	r = library.inflate(z, Z_NO_FLUSH);
	job->input_len -= (size_t)(z->next_in - job->input);
	job->input = z->next_in;
	*ret_len = len - z->avail_out;
	job->between = r == Z_STREAM_END;
	if (r == Z_STREAM_END)
		r = library.inflate_reset(z);
	if (r != Z_OK && r != Z_BUF_ERROR)
		return error_set(err, -EBADMSG, "damaged gzip data");
	return 0;
}

static int run_zstd(struct decompress *job, char *room, size_t len, size_t *ret_len,
		    struct error *err)
{
	ZSTD_inBuffer in = { .src = job->input, .size = job->input_len };
	ZSTD_outBuffer out = { .dst = room, .size = len };
	size_t r = library.zstd_decompress(job->state, &out, &in);

	if (library.zstd_is_error(r))
		return error_set(err, -EBADMSG, "damaged zstd data: %s",
				 library.zstd_error_name(r));
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

static int begin_kind(struct decompress *job, struct error *err)
{
	int r;

	job->begun = true;
	job->between = true;
	job->kind = decompress_kind_of(job->input, job->input_len);
	if (job->kind == DECOMPRESS_PLAIN)
		return 0;
	r = decompress_load(err);
	if (r < 0)
		return r;
	job->output = xmalloc(CHUNK);
	if (job->kind == DECOMPRESS_GZIP) {
		job->state = xcalloc(1, sizeof(z_stream));
		if (library.inflate_init(job->state, GZIP_ONLY, ZLIB_VERSION, sizeof(z_stream)) !=
		    Z_OK)
			abort();
		return 0;
	}
	job->state = library.zstd_create();
	if (!job->state)
		abort();
	return 0;
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
		r = begin_kind(job, err);
		if (r < 0)
			return r;
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
		(void)library.inflate_end(job->state);
		free(job->state);
	}
	if (job->state && job->kind == DECOMPRESS_ZSTD)
		(void)library.zstd_free(job->state);
	free(job->output);
	*job = DECOMPRESS_INIT;
}
