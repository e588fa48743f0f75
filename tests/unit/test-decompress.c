#include "data/decompress.h"

#include "base/strbuf.h"
#include "image-maker.h"
#include "test.h"

static void make_text(struct strbuf *text)
{
	for (unsigned i = 0; text->len < 5000000; i++)
		strbuf_addf(text, "%u,", i * 2654435761u);
}

/* What BYTES decompress to; the result is that of the last chunk. */
static int read_all(const struct strbuf *bytes, struct strbuf *ret)
{
	cleanup_with(decompress_release) struct decompress plain = DECOMPRESS_INIT;
	struct stream_memory memory;
	size_t len = 1;
	int r = 0;

	stream_memory_open(&memory, bytes->text, bytes->len);
	decompress_open(&plain, &memory.stream);
	while (r == 0 && len > 0) {
		const void *data;

		r = plain.stream.next(&plain.stream, &data, &len, NULL);
		if (r == 0)
			strbuf_add_mem(ret, data, len);
	}
	return r;
}

static void assert_both_ways(const char *program)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_with(strbuf_release) struct strbuf packed = STRBUF_INIT;
	cleanup_with(strbuf_release) struct strbuf again = STRBUF_INIT;
	size_t half;

	make_text(&text);
	image_maker_compress(program, &text, &packed);
	ASSERT_INT(read_all(&packed, &again), 0);
	ASSERT(again.len == text.len && memcmp(again.text, text.text, text.len) == 0);

	/* Two in a row are one stream. */
	half = packed.len;
	image_maker_compress(program, &text, &packed);
	strbuf_reset(&again);
	ASSERT_INT(read_all(&packed, &again), 0);
	ASSERT_INT(again.len, 2 * text.len);

	packed.len = half - 1;
	ASSERT_INT(read_all(&packed, &again), -EBADMSG);
	packed.len = half / 2;
	ASSERT_INT(read_all(&packed, &again), -EBADMSG);
	packed.len = half;
	packed.text[half / 2] ^= 0x55;
	packed.text[half / 2 + 1] ^= 0x55;
	ASSERT_INT(read_all(&packed, &again), -EBADMSG);
}

TEST(gzip_is_decompressed_and_checked)
{
	assert_both_ways("gzip");
}

TEST(zstd_is_decompressed_and_checked)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_with(strbuf_release) struct strbuf packed = STRBUF_INIT;
	cleanup_with(strbuf_release) struct strbuf again = STRBUF_INIT;

	make_text(&text);
	image_maker_compress("zstd", &text, &packed);
	ASSERT_INT(read_all(&packed, &again), 0);
	ASSERT(again.len == text.len && memcmp(again.text, text.text, text.len) == 0);
	packed.len -= 1;
	ASSERT_INT(read_all(&packed, &again), -EBADMSG);
}

TEST(other_data_is_passed_on)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_with(strbuf_release) struct strbuf again = STRBUF_INIT;

	ASSERT_INT(read_all(&text, &again), 0);
	ASSERT_INT(again.len, 0);
	strbuf_add(&text, "plain");
	ASSERT_INT(read_all(&text, &again), 0);
	ASSERT_STR(again.text, "plain");
}
