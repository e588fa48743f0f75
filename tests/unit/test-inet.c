#include "data/inet.h"
#include "test.h"

static struct subnet subnet(const char *text)
{
	struct subnet result = { 0 };

	ASSERT_OK(inet_parse_subnet(text, &result, &err));
	return result;
}

static struct in_addr address(const char *text)
{
	struct in_addr result = { 0 };

	ASSERT_OK(inet_parse_address(text, &result, &err));
	return result;
}

static void assert_subnet(const struct subnet *got, const char *want)
{
	cleanup_free char *text = inet_print_subnet(got);

	ASSERT_STR(text, want);
}

static void assert_address(struct in_addr got, const char *want)
{
	cleanup_free char *text = inet_print_address(got);

	ASSERT_STR(text, want);
}

TEST(reads_what_it_prints)
{
	static const char *const texts[] = { "0.0.0.0/0",   "10.244.0.0/16",      "192.168.39.0/24",
					     "10.0.0.1/32", "255.255.255.255/32", "128.0.0.0/1" };

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct subnet it = subnet(texts[i]);

		assert_subnet(&it, texts[i]);
	}
	assert_address(address("192.168.39.2"), "192.168.39.2");
	ASSERT_INT(address("1.2.3.4").s_addr, htonl(0x01020304));
}

TEST(addresses_are_checked_fully)
{
	static const char *const bad[] = { "",          "1",        "1.2.3",     "1.2.3.4.5",
					   "1.2.3.256", "01.2.3.4", "1.2.3.4 ",  " 1.2.3.4",
					   "1..3.4",    "-1.2.3.4", "1.2.3.4/8", "1.2.3.1000",
					   "a.b.c.d",   "1.2.3.",   "0x1.2.3.4" };
	struct in_addr it;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		ASSERT_INT(inet_parse_address(bad[i], &it, NULL), -EINVAL);
}

TEST(subnets_are_checked_fully)
{
	static const char *const bad[] = { "",
					   "10.0.0.0",
					   "10.0.0.0/",
					   "10.0.0.0/33",
					   "10.0.0.0/-1",
					   "10.0.0.0/08",
					   "10.0.0.0/8 ",
					   "10.0.0/8",
					   "10.0.0.0/8/8",
					   "10.0.0.0/888",
					   "/8",
					   "10.0.0.0 /8" };
	cleanup_with(error_clear) struct error err = ERROR_INIT;
	struct subnet it = { .prefix = 7 };

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		ASSERT_INT(inet_parse_subnet(bad[i], &it, NULL), -EINVAL);
	ASSERT_INT(inet_parse_subnet("192.168.39.5/24", &it, &err), -EINVAL);
	ASSERT_STR(err.text, "'192.168.39.5/24' is not a subnet; did you mean '192.168.39.0/24'?");
	ASSERT_INT(it.prefix, 7);
}

TEST(subnets_contain_addresses_and_overlap)
{
	struct subnet net = subnet("192.168.39.0/24");
	struct subnet all = subnet("0.0.0.0/0");
	struct subnet one = subnet("192.168.39.7/32");
	struct subnet half = subnet("192.168.39.128/25");
	struct subnet next = subnet("192.168.40.0/24");

	ASSERT(inet_contains(&net, address("192.168.39.0")));
	ASSERT(inet_contains(&net, address("192.168.39.255")));
	ASSERT(!inet_contains(&net, address("192.168.40.0")));
	ASSERT(inet_contains(&all, address("255.255.255.255")));
	ASSERT(inet_overlap(&net, &half) && inet_overlap(&half, &net));
	ASSERT(inet_overlap(&net, &one) && inet_overlap(&one, &all));
	ASSERT(inet_overlap(&net, &net));
	ASSERT(!inet_overlap(&net, &next) && !inet_overlap(&one, &half));
}

TEST(counts_addresses)
{
	struct subnet net = subnet("192.168.39.0/24");
	struct subnet all = subnet("0.0.0.0/0");
	struct subnet one = subnet("10.0.0.1/32");
	struct in_addr it = { 0 };

	ASSERT_INT(inet_nth_address(&net, 2, &it, NULL), 0);
	assert_address(it, "192.168.39.2");
	ASSERT_INT(inet_nth_address(&net, 255, &it, NULL), 0);
	ASSERT_INT(inet_nth_address(&net, 256, &it, NULL), -ERANGE);
	ASSERT_INT(inet_nth_address(&one, 0, &it, NULL), 0);
	assert_address(it, "10.0.0.1");
	ASSERT_INT(inet_nth_address(&one, 1, &it, NULL), -ERANGE);
	ASSERT_INT(inet_nth_address(&all, UINT32_MAX, &it, NULL), 0);
	assert_address(it, "255.255.255.255");
	ASSERT_INT(inet_nth_address(&all, 1ULL << 32, &it, NULL), -ERANGE);

	ASSERT_INT(inet_number_of(&net, address("192.168.39.2")), 2);
	ASSERT_INT(inet_number_of(&net, address("192.168.40.2")), -ERANGE);
	ASSERT_INT(inet_number_of(&all, address("255.255.255.255")), UINT32_MAX);
}

TEST(divides_a_subnet)
{
	cleanup_with(error_clear) struct error err = ERROR_INIT;
	struct subnet pods = subnet("10.244.0.0/16");
	struct subnet all = subnet("0.0.0.0/0");
	struct subnet it = { 0 };

	ASSERT_INT(inet_nth_subnet(&pods, 24, 0, &it, NULL), 0);
	assert_subnet(&it, "10.244.0.0/24");
	ASSERT_INT(inet_nth_subnet(&pods, 24, 255, &it, NULL), 0);
	assert_subnet(&it, "10.244.255.0/24");
	ASSERT_INT(inet_nth_subnet(&pods, 24, 256, &it, &err), -ERANGE);
	ASSERT_STR(err.text, "subnet 10.244.0.0/16 has no subnet of /24 number 256");
	ASSERT_INT(inet_nth_subnet(&pods, 8, 0, &it, NULL), -EINVAL);
	ASSERT_INT(inet_nth_subnet(&pods, 33, 0, &it, NULL), -EINVAL);
	ASSERT_INT(inet_nth_subnet(&all, 0, 0, &it, NULL), 0);
	assert_subnet(&it, "0.0.0.0/0");
	ASSERT_INT(inet_nth_subnet(&all, 32, UINT32_MAX, &it, NULL), 0);
	assert_subnet(&it, "255.255.255.255/32");
}

TEST(chooses_the_first_subnet_that_is_free)
{
	struct subnet used[] = { subnet("192.168.0.0/18"), subnet("172.17.0.0/16"),
				 subnet("192.168.66.5/32"), subnet("192.168.0.0/16"),
				 subnet("10.89.0.0/24") };
	struct subnet it = { 0 };

	ASSERT_INT(inet_choose_subnet(NULL, 0, &it, NULL), 0);
	assert_subnet(&it, "192.168.39.0/24");
	ASSERT_INT(inet_choose_subnet(used, 3, &it, NULL), 0);
	assert_subnet(&it, "192.168.75.0/24");
	ASSERT_INT(inet_choose_subnet(used, 5, &it, NULL), 0);
	assert_subnet(&it, "10.89.1.0/24");
}

TEST(says_so_when_every_subnet_is_taken)
{
	cleanup_with(error_clear) struct error err = ERROR_INIT;
	struct subnet all = subnet("0.0.0.0/0");
	struct subnet it;

	ASSERT_INT(inet_choose_subnet(&all, 1, &it, &err), -EADDRINUSE);
	ASSERT(err.reason == &reason_subnet_taken);
}
