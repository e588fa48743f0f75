#include "base/strbuf.h"
#include "test.h"

TEST(an_empty_strbuf_is_a_valid_string)
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

TEST(strbuf_take_gives_away_the_text)
{
	struct strbuf buf = STRBUF_INIT;
	cleanup_free char *text = NULL;

	strbuf_add(&buf, "x");
	text = strbuf_take(&buf);
	ASSERT_STR(text, "x");
	ASSERT_STR(buf.text, "");
}

TEST(shows_no_control_characters)
{
	static const struct {
		const char *text, *shown;
	} cases[] = {
		{ "plain\ttext\nä € 😀", "plain\ttext\nä € 😀" },
		{ "\033]0;x\007\r\177", "^[]0;x^G^M^?" },
		{ "\xc2\x9b"
		  "2J \x9b\xff \xe2\x82",
		  "??2J ?? ??" },
		{ "\xc3", "?" },
		/* Right to left, a line separator, no space at all, a tag. */
		{ "a\xe2\x80\xae"
		  "b\xe2\x80\xa8"
		  "c\xe2\x80\x8b"
		  "d\xf3\xa0\x81\x81",
		  "a???b???c???d????" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup_with(strbuf_release) struct strbuf out = STRBUF_INIT;

		strbuf_add_printable(&out, cases[i].text, strlen(cases[i].text));
		ASSERT_STR(out.text, cases[i].shown);
	}
}

TEST(values_take_the_place_of_their_names)
{
	static const struct strbuf_value values[] = { { "NAME", "n1" },
						      { "NAME_TOO", "@NAME@" },
						      { NULL } };
	static const struct {
		const char *text, *filled;
	} cases[] = {
		{ "", "" },
		{ "plain\n", "plain\n" },
		{ "@NAME@", "n1" },
		{ "a @NAME@@NAME_TOO@ b\n", "a n1@NAME@ b\n" },
		{ "you@example @ @@ @name@ @NAME", "you@example @ @@ @name@ @NAME" },
		{ "x@NAME@y@", "xn1y@" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup_with(strbuf_release) struct strbuf out = STRBUF_INIT;

		strbuf_add_filled(&out, cases[i].text, values);
		ASSERT_STR(out.text, cases[i].filled);
	}
}

TEST(what_is_for_one_line_stays_on_it)
{
	cleanup_with(strbuf_release) struct strbuf out = STRBUF_INIT;

	strbuf_add(&out, "a\n");
	strbuf_add_printable_line(&out, "b\nc\td", 5);
	ASSERT_STR(out.text, "a\nb c d");
}
