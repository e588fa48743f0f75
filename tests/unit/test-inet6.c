#include "data/inet6.h"
#include "test.h"

static struct subnet6 subnet(const char *text)
{
	struct subnet6 result = { .prefix = 0 };

	ASSERT_OK(inet6_parse_subnet(text, &result, &err));
	return result;
}

static struct in6_addr address(const char *text)
{
	struct in6_addr result = IN6ADDR_ANY_INIT;

	ASSERT_OK(inet6_parse_address(text, &result, &err));
	return result;
}

static void assert_subnet(struct subnet6 got, const char *want)
{
	cleanup_free char *text = inet6_print_subnet(&got);

	ASSERT_STR(text, want);
}

TEST(reads_what_it_prints)
{
	static const char *const texts[] = { "::/0", "fd00::/8", "fd12:3456:789a::/48",
					     "fd12:3456:789a:100::/56", "::1/128" };

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		assert_subnet(subnet(texts[i]), texts[i]);
}

TEST(rejects_what_is_no_address_or_no_subnet)
{
	static const char *const addresses[] = { "",           "10.0.0.1", "fd00::0", "FD00::1",
						 "fd00::1%lo", "fd00::1 ", "fd00:::1" };
	static const char *const subnets[] = { "fd00::1/64",   "fd00::",    "fd00::/129",
					       "fd00::/-1",    "fd00::/",   "10.0.0.0/8",
					       "fd00::/64/64", "fd00::/064" };
	struct in6_addr parsed;
	struct subnet6 network;

	for (size_t i = 0; i < ARRAY_SIZE(addresses); i++)
		ASSERT_INT(inet6_parse_address(addresses[i], &parsed, NULL), -EINVAL);
	for (size_t i = 0; i < ARRAY_SIZE(subnets); i++)
		ASSERT_INT(inet6_parse_subnet(subnets[i], &network, NULL), -EINVAL);
}

TEST(knows_what_a_subnet_contains)
{
	struct subnet6 odd = subnet("fd12:3456:7890::/45");
	struct in6_addr in = address("fd12:3456:7897:ffff::1");
	struct in6_addr out = address("fd12:3456:7898::1");

	ASSERT(inet6_contains(&odd, &in));
	ASSERT(!inet6_contains(&odd, &out));
}

TEST(knows_whether_subnets_overlap)
{
	struct subnet6 all = subnet("fd00::/8");
	struct subnet6 one = subnet("fd12:3456:789a::/48");
	struct subnet6 other = subnet("fd12:3456:789b::/48");

	ASSERT(inet6_overlap(&all, &one));
	ASSERT(inet6_overlap(&one, &all));
	ASSERT(!inet6_overlap(&one, &other));
}

TEST(divides_the_prefix_of_a_cluster)
{
	struct subnet6 prefix = inet6_cluster_prefix(
		(const uint8_t[]){ 0x12, 0x34, 0x56, 0x78, 0x9a });
	struct in6_addr host = inet6_node_address(&prefix, 1);
	struct in6_addr node = inet6_node_address(&prefix, 254);
	cleanup_free char *host_text = inet6_print_address(&host);
	cleanup_free char *node_text = inet6_print_address(&node);

	assert_subnet(prefix, "fd12:3456:789a::/48");
	assert_subnet(inet6_nodes(&prefix), "fd12:3456:789a::/64");
	assert_subnet(inet6_pods(&prefix), "fd12:3456:789a:100::/56");
	assert_subnet(inet6_services(&prefix), "fd12:3456:789a:ffff::/112");
	ASSERT_STR(host_text, "fd12:3456:789a::1");
	ASSERT_STR(node_text, "fd12:3456:789a::fe");
}

TEST(gives_pods_of_nodes_networks_of_their_own)
{
	struct subnet6 prefix = subnet("fd12:3456:789a::/48");
	struct subnet6 pods = inet6_pods(&prefix);
	struct subnet6 first = inet6_node_pods(&prefix, 2);
	struct subnet6 last = inet6_node_pods(&prefix, 255);

	assert_subnet(first, "fd12:3456:789a:102::/64");
	assert_subnet(last, "fd12:3456:789a:1ff::/64");
	ASSERT(inet6_contains(&pods, &first.address));
	ASSERT(inet6_contains(&pods, &last.address));
	ASSERT(!inet6_overlap(&first, &last));
}
