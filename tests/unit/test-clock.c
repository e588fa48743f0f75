#include "base/clock.h"
#include "test.h"

TEST(a_moment_is_read_as_it_is_written)
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
