#include "base/strbuf.h"
#include "test.h"

TEST(is_a_string_from_the_beginning)
{
	struct strbuf buf = STRBUF_INIT;

	ASSERT_STR(buf.text, "");
	strbuf_release(&buf);
}

TEST(grows_and_drops)
{
	cleanup_with(strbuf_release) struct strbuf buf = STRBUF_INIT;

	for (int i = 0; i < 1000; i++)
		strbuf_addf(&buf, "%03d", i);
	ASSERT_INT(buf.len, 3000);
	strbuf_drop_front(&buf, 2994);
	ASSERT_STR(buf.text, "998999");
	strbuf_add(&buf, " \n");
	strbuf_trim_end(&buf);
	ASSERT_STR(buf.text, "998999");
}

TEST(gives_its_text_away)
{
	struct strbuf buf = STRBUF_INIT;
	cleanup_free char *text = NULL;

	strbuf_add(&buf, "x");
	text = strbuf_take(&buf);
	ASSERT_STR(text, "x");
	ASSERT_STR(buf.text, "");
}
