#include "base/clock.h"
#include "test.h"

TEST(a_time_is_parsed_as_it_is_printed)
{
	static const int64_t moments[] = { 0, 1769860800, 4102444799 };

	for (size_t i = 0; i < ARRAY_SIZE(moments); i++) {
		cleanup_free char *text = clock_rfc3339(moments[i]);

		ASSERT_INT(clock_parse_rfc3339(text), moments[i]);
	}
}

TEST(what_is_no_moment_is_refused)
{
	ASSERT_INT(clock_parse_rfc3339(""), -1);
	ASSERT_INT(clock_parse_rfc3339("yesterday"), -1);
	ASSERT_INT(clock_parse_rfc3339("2026-01-31T12:00:00Z and more"), -1);
	ASSERT_INT(clock_parse_rfc3339("2026-13-31T12:00:00Z"), -1);
}

TEST(polling_looks_again_until_the_deadline)
{
	int64_t deadline_ms = clock_now_ms() + 30;
	unsigned looks = 1;

	while (clock_poll(deadline_ms, 10))
		looks++;
	ASSERT(looks >= 2);
	ASSERT(clock_now_ms() >= deadline_ms);
}

TEST(polling_past_the_deadline_does_not_rest)
{
	ASSERT(!clock_poll(clock_now_ms() - 1, 3600000));
	ASSERT(!clock_poll(0, 3600000));
}

TEST(polling_rests_no_longer_than_until_the_deadline)
{
	/* An hour would be noticed. */
	ASSERT(clock_poll(clock_now_ms() + 20, 3600000));
}
