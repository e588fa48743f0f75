#include "data/protobuf.h"
#include "test.h"

static struct protobuf all_of(const struct strbuf *buf)
{
	return (struct protobuf){ buf->text, buf->len };
}

TEST(writes_what_the_specification_shows)
{
	cleanup_with(strbuf_release) struct strbuf buf = STRBUF_INIT;

	protobuf_add_number(&buf, 1, 150);
	protobuf_add_text(&buf, 2, "testing");
	ASSERT_INT(buf.len, 12);
	ASSERT(memcmp(buf.text, "\x08\x96\x01\x12\x07testing", 12) == 0);
}

TEST(leaves_out_defaults)
{
	cleanup_with(strbuf_release) struct strbuf buf = STRBUF_INIT;

	protobuf_add_number(&buf, 1, 0);
	protobuf_add_text(&buf, 2, "");
	protobuf_add_text(&buf, 3, NULL);
	ASSERT_INT(buf.len, 0);
}

TEST(reads_what_it_wrote)
{
	cleanup_with(strbuf_release) struct strbuf buf = STRBUF_INIT;
	struct protobuf_field field;
	struct protobuf rest;
	char *value;
	char *key;

	protobuf_add_number(&buf, 1, UINT64_MAX);
	protobuf_add_pair(&buf, 7, "name", "value");
	rest = all_of(&buf);
	ASSERT_INT(protobuf_next(&rest, &field), 1);
	ASSERT_INT(field.number, 1);
	ASSERT(!field.is_bytes && field.value == UINT64_MAX);
	ASSERT_INT(protobuf_next(&rest, &field), 1);
	ASSERT(protobuf_has_bytes(&field, 7));
	ASSERT_INT(protobuf_pair(&field, &key, &value), 0);
	ASSERT_STR(key, "name");
	ASSERT_STR(value, "value");
	ASSERT_INT(protobuf_next(&rest, &field), 0);
	free(key);
	free(value);
}

TEST(refuses_damaged_messages)
{
	static const struct {
		const char *text;
		size_t len;
	} damaged[] = {
		{ "\x08", 1 },         /* no value */
		{ "\x08\x80", 2 },     /* an integer without its end */
		{ "\x12\x05xxxx", 6 }, /* shorter than it says */
		{ "\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11 }, /* longer than memory */
		{ "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 11 }, /* more than 64 bits */
		{ "\x00\x01", 2 },                                      /* field 0 */
		{ "\x0b", 1 },                                          /* a group */
		{ "\x0d\x01\x02", 3 },                                  /* half a number */
	};
	struct protobuf_field field;

	for (size_t i = 0; i < ARRAY_SIZE(damaged); i++) {
		struct protobuf rest = { damaged[i].text, damaged[i].len };

		ASSERT_INT(protobuf_next(&rest, &field), -EBADMSG);
	}
}

TEST(text_has_no_nul)
{
	struct protobuf rest = { "\x0a\x03"
				 "a\0b",
				 5 };
	struct protobuf_field field;

	ASSERT_INT(protobuf_next(&rest, &field), 1);
	ASSERT(!protobuf_text(&field));
}
