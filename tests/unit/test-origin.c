#include <arpa/inet.h>

#include "balancer/origin.h"
#include "test.h"

static struct sockaddr_storage at(const char *text)
{
	struct sockaddr_storage address = { 0 };
	struct sockaddr_in *in4 = (struct sockaddr_in *)&address;
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&address;

	if (strchr(text, ':')) {
		in6->sin6_family = AF_INET6;
		ASSERT(inet_pton(AF_INET6, text, &in6->sin6_addr) == 1);
	} else {
		in4->sin_family = AF_INET;
		ASSERT(inet_pton(AF_INET, text, &in4->sin_addr) == 1);
	}
	return address;
}

static struct origin find(const struct origins *origins, const char *from)
{
	struct sockaddr_storage source = at(from);
	struct sockaddr_storage own = at(strchr(from, ':') ? "fd00::1" : "10.89.0.1");

	return origins_find(origins, &source, &own);
}

static bool same(const struct origins *origins, const char *a, const char *b)
{
	struct origin first = find(origins, a);
	struct origin second = find(origins, b);

	return first.kind == second.kind && memcmp(first.id, second.id, sizeof(first.id)) == 0;
}

static struct origins *cluster(void)
{
	cleanup_with(balancer_config_release) struct balancer_config config = BALANCER_CONFIG_INIT;
	struct origins *origins = origins_new();

	balancer_config_add_origin(&config, "10.89.0.2", "10.244.0.0/24");
	balancer_config_add_origin(&config, "10.89.0.3", "10.244.1.0/24");
	balancer_config_add_origin(&config, "10.89.0.4", NULL);
	strlist_add(&config.networks, "10.89.0.0/24");
	strlist_add(&config.networks, "10.244.0.0/16");
	ASSERT_OK(origins_set(origins, &config, &err));
	return origins;
}

TEST(a_node_and_its_pods_are_one_origin)
{
	cleanup_with(origins_freep) struct origins *origins = cluster();

	ASSERT_INT(find(origins, "10.89.0.2").kind, ORIGIN_NODE);
	ASSERT(same(origins, "10.89.0.2", "10.244.0.7"));
	ASSERT(same(origins, "10.244.1.9", "10.244.1.200"));
	ASSERT(!same(origins, "10.89.0.2", "10.89.0.3"));
	ASSERT(!same(origins, "10.244.0.7", "10.244.1.7"));
}

/* Otherwise a node could have as many shares as it takes addresses. */
TEST(addresses_of_no_node_are_one_origin)
{
	cleanup_with(origins_freep) struct origins *origins = cluster();

	ASSERT_INT(find(origins, "10.89.0.77").kind, ORIGIN_STRAY);
	ASSERT(same(origins, "10.89.0.77", "10.244.200.1"));
}

TEST(the_host_is_known_by_its_own_addresses)
{
	cleanup_with(origins_freep) struct origins *origins = cluster();

	ASSERT_INT(find(origins, "127.0.0.1").kind, ORIGIN_HOST);
	ASSERT_INT(find(origins, "127.8.0.1").kind, ORIGIN_HOST);
	ASSERT_INT(find(origins, "10.89.0.1").kind, ORIGIN_HOST);
	ASSERT_INT(find(origins, "::1").kind, ORIGIN_HOST);
	ASSERT_INT(find(origins, "::ffff:127.0.0.1").kind, ORIGIN_HOST);
	ASSERT_INT(find(origins, "fd00::1").kind, ORIGIN_HOST);
}

TEST(other_machines_are_separate_origins_and_get_no_dns)
{
	cleanup_with(origins_freep) struct origins *origins = cluster();
	struct origin other = find(origins, "192.0.2.1");
	struct origin node = find(origins, "10.244.1.9");
	struct origin stray = find(origins, "10.89.0.77");
	struct origin host = find(origins, "127.0.0.1");

	ASSERT_INT(other.kind, ORIGIN_ELSEWHERE);
	ASSERT(!same(origins, "192.0.2.1", "192.0.2.2"));
	ASSERT(same(origins, "2001:db8::1", "2001:db8::2"));
	ASSERT(!same(origins, "2001:db8::1", "2001:db8:0:1::1"));
	ASSERT(!origins_trust(origins, &other));
	ASSERT(origins_trust(origins, &node));
	ASSERT(origins_trust(origins, &stray));
	ASSERT(origins_trust(origins, &host));
}

TEST(a_configuration_without_networks_serves_all_clients)
{
	cleanup_with(origins_freep) struct origins *origins = origins_new();
	struct origin other = find(origins, "192.0.2.1");

	ASSERT(origins_trust(origins, &other));
}

TEST(what_makes_no_sense_changes_nothing)
{
	cleanup_with(balancer_config_release) struct balancer_config config = BALANCER_CONFIG_INIT;
	cleanup_with(origins_freep) struct origins *origins = cluster();

	strlist_add(&config.networks, "10.89.0.0/99");
	ASSERT(origins_set(origins, &config, NULL) < 0);
	ASSERT_INT(find(origins, "10.89.0.2").kind, ORIGIN_NODE);
}

static unsigned take_all(struct tally *tally, const struct origins *origins, const char *from)
{
	struct origin origin = find(origins, from);
	unsigned count = 0;

	while (tally_take(tally, &origin))
		count++;
	return count;
}

TEST(one_origin_gets_at_most_a_quarter)
{
	cleanup_with(origins_freep) struct origins *origins = cluster();
	cleanup_with(tally_freep) struct tally *tally = tally_new(100);
	struct origin pod = find(origins, "10.244.0.7");

	ASSERT_INT(take_all(tally, origins, "10.89.0.2"), 25);
	ASSERT(!tally_take(tally, &pod));
	ASSERT_INT(take_all(tally, origins, "10.89.0.3"), 25);
	ASSERT_INT(take_all(tally, origins, "192.0.2.1"), 25);
	/* The rest is for the host. */
	ASSERT_INT(take_all(tally, origins, "192.0.2.2"), 0);
	ASSERT_INT(take_all(tally, origins, "127.0.0.1"), 25);
	/* What is given back can be taken again. */
	tally_give_back(tally, &pod);
	ASSERT(tally_take(tally, &pod));
	ASSERT(!tally_take(tally, &pod));
}

TEST(the_host_leaves_room_for_nodes)
{
	cleanup_with(origins_freep) struct origins *origins = cluster();
	cleanup_with(tally_freep) struct tally *tally = tally_new(100);

	ASSERT_INT(take_all(tally, origins, "127.0.0.1"), 75);
	ASSERT_INT(take_all(tally, origins, "10.89.0.2"), 25);
}

TEST(counts_of_many_origins_come_and_go)
{
	cleanup_with(origins_freep) struct origins *origins = origins_new();
	cleanup_with(tally_freep) struct tally *tally = tally_new(4000);

	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < 3000; i++) {
			cleanup_free char *from = xasprintf("192.0.%d.%d", i / 250, i % 250);
			struct origin origin = find(origins, from);

			ASSERT(tally_take(tally, &origin));
		}
		for (int i = 0; i < 3000; i++) {
			cleanup_free char *from = xasprintf("192.0.%d.%d", i / 250, i % 250);
			struct origin origin = find(origins, from);

			tally_give_back(tally, &origin);
		}
	}
}
