#include "base/parse.h"
#include "test.h"

TEST(numbers_are_checked_fully)
{
	cleanup_with(error_clear) struct error err = ERROR_INIT;
	unsigned long long n = 0;

	ASSERT_INT(parse_number("42", 1, 100, &n, NULL), 0);
	ASSERT_INT(n, 42);
	ASSERT_INT(parse_number("0", 1, 100, &n, &err), -ERANGE);
	ASSERT_STR(err.text, "must be at least 1, not 0");
	ASSERT_INT(parse_number("4x", 1, 100, &n, &err), -EINVAL);
	ASSERT_STR(err.text, "'4x' is not a whole number");
	ASSERT_INT(parse_number("", 0, 100, &n, NULL), -EINVAL);
	ASSERT_INT(parse_number("-1", 0, 100, &n, &err), -ERANGE);
	ASSERT_STR(err.text, "must be at least 0, not -1");
	ASSERT_INT(parse_number("-1x", 0, 100, &n, NULL), -EINVAL);
	ASSERT_INT(parse_number("-", 0, 100, &n, NULL), -EINVAL);
	ASSERT_INT(parse_number("99999999999999999999999", 0, 100, &n, NULL), -ERANGE);
}

TEST(sizes_have_units_and_mean_mebibytes_without)
{
	uint64_t bytes = 0;

	ASSERT_INT(parse_size("2g", &bytes, NULL), 0);
	ASSERT_INT(bytes, 2LL << 30);
	ASSERT_INT(parse_size("512", &bytes, NULL), 0);
	ASSERT_INT(bytes, 512LL << 20);
	ASSERT_INT(parse_size("64MiB", &bytes, NULL), 0);
	ASSERT_INT(bytes, 64LL << 20);
	ASSERT_INT(parse_size("7b", &bytes, NULL), 0);
	ASSERT_INT(bytes, 7);
	ASSERT_INT(parse_size("2x", &bytes, NULL), -EINVAL);
	ASSERT_INT(parse_size("g", &bytes, NULL), -EINVAL);
	ASSERT_INT(parse_size("18446744073709551615g", &bytes, NULL), -ERANGE);
}

TEST(durations_add_up)
{
	unsigned seconds = 0;

	ASSERT_INT(parse_seconds("1m30s", &seconds, NULL), 0);
	ASSERT_INT(seconds, 90);
	ASSERT_INT(parse_seconds("6m", &seconds, NULL), 0);
	ASSERT_INT(seconds, 360);
	ASSERT_INT(parse_seconds("5", &seconds, NULL), 0);
	ASSERT_INT(seconds, 5);
	ASSERT_INT(parse_seconds("", &seconds, NULL), -EINVAL);
	ASSERT_INT(parse_seconds("5d", &seconds, NULL), -EINVAL);
	ASSERT_INT(parse_seconds("999999999h", &seconds, NULL), -ERANGE);
}

TEST(names_are_dns_labels)
{
	ASSERT(parse_is_dns_label("node-1"));
	ASSERT(!parse_is_dns_label(""));
	ASSERT(!parse_is_dns_label("-a"));
	ASSERT(!parse_is_dns_label("a-"));
	ASSERT(!parse_is_dns_label("A"));
	ASSERT(!parse_is_dns_label("a.b"));
	ASSERT(!parse_is_dns_label("../etc"));
}
