#include <arpa/inet.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "base/file.h"
#include "base/process.h"
#include "base/strbuf.h"
#include "base/strlist.h"
#include "host/link.h"
#include "test.h"

/* Every test runs in a network namespace of its own. */
static struct link_socket *fresh_network(void)
{
	struct link_socket *socket = NULL;

	if (unshare(CLONE_NEWNET) < 0)
		test_skip("needs CAP_SYS_ADMIN");
	ASSERT_OK(link_open(&socket, &err));
	return socket;
}

/* A further network namespace; the caller stays in its own. */
static int other_network(void)
{
	cleanup_fd int own = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	int other;

	ASSERT(own >= 0);
	ASSERT(unshare(CLONE_NEWNET) == 0);
	other = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	ASSERT(other >= 0);
	ASSERT(setns(own, CLONE_NEWNET) == 0);
	return other;
}

static struct in_addr address(const char *text)
{
	struct in_addr result;

	ASSERT(inet_pton(AF_INET, text, &result) == 1);
	return result;
}

static bool is_up(const char *name)
{
	cleanup_fd int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq request = { 0 };

	(void)snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", name);
	ASSERT(ioctl(fd, SIOCGIFFLAGS, &request) == 0);
	return request.ifr_flags & IFF_UP;
}

static int add_network(struct in_addr network, unsigned prefix, const char *link, void *data)
{
	char text[INET_ADDRSTRLEN];

	strlist_addf(data, "%s/%u %s", inet_ntop(AF_INET, &network, text, sizeof(text)), prefix,
		     link);
	return 0;
}

static int add_name(const char *name, void *data)
{
	strlist_add(data, name);
	return 0;
}

TEST(adds_a_bridge_once)
{
	cleanup_with(link_closep) struct link_socket *link = fresh_network();

	ASSERT_OK(link_add_bridge(link, "br-test", &err));
	ASSERT(is_up("br-test"));
	ASSERT_OK(link_add_bridge(link, "br-test", &err));
	ASSERT_INT(link_index(link, "br-test", NULL), if_nametoindex("br-test"));
}

static char setting(const char *link, const char *name)
{
	cleanup_free char *path = xasprintf("/proc/sys/net/ipv6/conf/%s/%s", link, name);
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;

	if (file_read(path, 16, &text, NULL) == -ENOENT)
		test_skip("needs IPv6");
	return *text.text;
}

TEST(a_bridge_and_its_ports_ignore_ipv6)
{
	cleanup_with(link_closep) struct link_socket *link = fresh_network();
	cleanup_fd int other = other_network();

	ASSERT_OK(link_add_bridge(link, "br-test", &err));
	ASSERT_OK(link_add_veth(link, "br-test.1", "br-test", "eth0", other, &err));
	ASSERT(is_up("br-test.1"));
	ASSERT_INT(setting("br-test", "disable_ipv6"), '1');
	ASSERT_INT(setting("br-test", "accept_ra"), '0');
	ASSERT_INT(setting("br-test", "autoconf"), '0');
	ASSERT_INT(setting("br-test.1", "disable_ipv6"), '1');
}

TEST(a_bridge_does_not_replace_another_link)
{
	cleanup_with(link_closep) struct link_socket *link = fresh_network();
	cleanup_with(error_clear) struct error err = ERROR_INIT;

	ASSERT_INT(link_add_bridge(link, "lo", &err), -EEXIST);
	ASSERT_STR(err.text, "cannot add bridge 'lo': a link of that name exists");
	ASSERT(err.reason == &reason_network);
}

TEST(refuses_a_name_that_cannot_fit)
{
	cleanup_with(link_closep) struct link_socket *link = fresh_network();

	ASSERT_INT(link_add_bridge(link, "a-name-of-16-chr", NULL), -ENAMETOOLONG);
	ASSERT_INT(link_delete(link, "", NULL), -EINVAL);
}

TEST(a_missing_link_has_no_index)
{
	cleanup_with(link_closep) struct link_socket *link = fresh_network();
	cleanup_with(error_clear) struct error err = ERROR_INIT;

	ASSERT_INT(link_index(link, "absent", &err), -ENODEV);
	ASSERT_STR(err.text, "there is no link 'absent'");
	ASSERT_INT(link_up(link, "absent", NULL), -ENODEV);
	ASSERT_INT(link_add_address(link, "absent", address("10.0.0.1"), 24, NULL), -ENODEV);
}

TEST(deleting_a_missing_link_is_no_error)
{
	cleanup_with(link_closep) struct link_socket *link = fresh_network();

	ASSERT_OK(link_delete(link, "absent", &err));
	ASSERT_OK(link_add_bridge(link, "br-test", &err));
	ASSERT_OK(link_delete(link, "br-test", &err));
	ASSERT_INT(link_index(link, "br-test", NULL), -ENODEV);
}

TEST(opening_in_another_namespace_leaves_us_in_ours)
{
	cleanup_with(link_closep) struct link_socket *here = fresh_network();
	cleanup_with(link_closep) struct link_socket *there = NULL;
	cleanup_fd int other = other_network();

	ASSERT_OK(link_open_in(other, &there, &err));
	ASSERT_OK(link_add_bridge(there, "br-there", &err));
	ASSERT_INT(if_nametoindex("br-there"), 0);
	ASSERT_INT(link_index(here, "br-there", NULL), -ENODEV);
	ASSERT(link_index(there, "br-there", NULL) > 0);
}

TEST(a_veth_pair_joins_bridge_and_namespace)
{
	cleanup_with(link_closep) struct link_socket *here = fresh_network();
	cleanup_with(link_closep) struct link_socket *there = NULL;
	cleanup_fd int other = other_network();

	ASSERT_OK(link_open_in(other, &there, &err));
	ASSERT_INT(link_add_veth(here, "mk-1", "br-test", "eth0", other, NULL), -ENODEV);
	ASSERT_OK(link_add_bridge(here, "br-test", &err));
	ASSERT_OK(link_add_veth(here, "mk-1", "br-test", "eth0", other, &err));
	ASSERT(is_up("mk-1"));
	ASSERT(link_index(there, "eth0", NULL) > 0);
	ASSERT_INT(link_index(here, "eth0", NULL), -ENODEV);

	/* Again: the old pair goes, both ends of it. */
	ASSERT_OK(link_add_veth(here, "mk-1", "br-test", "eth0", other, &err));
	ASSERT_OK(link_delete(there, "eth0", &err));
	ASSERT_INT(link_index(here, "mk-1", NULL), -ENODEV);
}

TEST(a_mac_address_follows_from_the_ip_address)
{
	cleanup_with(link_closep) struct link_socket *link = fresh_network();
	cleanup_with(strbuf_release) struct strbuf mac = STRBUF_INIT;

	ASSERT_OK(link_add_bridge(link, "br-test", &err));
	ASSERT_OK(link_set_mac(link, "br-test", address("192.168.39.3"), &err));
	ASSERT_INT(process_capture(ARGV("sh", "-c", "ip link show br-test | grep -o 'ether [^ ]*'"),
				   NULL, &mac, NULL),
		   0);
	ASSERT_STR(mac.text, "ether 02:6b:c0:a8:27:03\n");
}

TEST(packets_go_through_the_pair)
{
	cleanup_with(link_closep) struct link_socket *here = fresh_network();
	cleanup_with(link_closep) struct link_socket *there = NULL;
	cleanup_fd int other = other_network();
	cleanup_fd int receiver = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	cleanup_fd int sender = -1;
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(4000) };
	struct timeval patience = { .tv_sec = 5 };
	char got[8] = "";

	ASSERT_OK(link_open_in(other, &there, &err));
	ASSERT_OK(link_add_bridge(here, "br-test", &err));
	ASSERT_OK(link_add_address(here, "br-test", address("192.168.39.1"), 24, &err));
	ASSERT_OK(link_add_veth(here, "mk-1", "br-test", "eth0", other, &err));
	ASSERT_OK(link_add_address(there, "eth0", address("192.168.39.2"), 24, &err));
	ASSERT_OK(link_up(there, "eth0", &err));

	to.sin_addr = address("192.168.39.1");
	ASSERT(bind(receiver, (struct sockaddr *)&to, sizeof(to)) == 0);
	ASSERT(setsockopt(receiver, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) == 0);
	ASSERT(setns(other, CLONE_NEWNET) == 0);
	sender = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	ASSERT_INT(sendto(sender, "hello", 6, 0, (struct sockaddr *)&to, sizeof(to)), 6);
	ASSERT_INT(recv(receiver, got, sizeof(got), 0), 6);
	ASSERT_STR(got, "hello");
}

TEST(addresses_and_routes_may_be_repeated)
{
	cleanup_with(link_closep) struct link_socket *link = fresh_network();
	cleanup_with(strlist_release) struct strlist networks = STRLIST_INIT;
	cleanup_with(strlist_release) struct strlist later = STRLIST_INIT;

	ASSERT_OK(link_add_bridge(link, "br-test", &err));
	for (int i = 0; i < 2; i++) {
		ASSERT_OK(link_add_address(link, "br-test", address("192.168.39.1"), 24, &err));
		ASSERT_OK(link_replace_route(link, address("10.244.1.0"), 24,
					     address("192.168.39.2"), &err));
		ASSERT_OK(link_replace_route(link, address("0.0.0.0"), 0, address("192.168.39.254"),
					     &err));
	}
	ASSERT_OK(
		link_replace_route(link, address("10.244.1.0"), 24, address("192.168.39.3"), &err));
	ASSERT_OK(link_each_network(link, add_network, &networks, &err));
	ASSERT(strlist_has(&networks, "192.168.39.0/24 br-test"));
	ASSERT(strlist_has(&networks, "10.244.1.0/24 br-test"));
	ASSERT(!strlist_has(&networks, "0.0.0.0/0 br-test"));
	ASSERT_INT(networks.count, 3); /* the address, its route, the other route */

	for (int i = 0; i < 2; i++)
		ASSERT_OK(link_delete_route(link, address("10.244.1.0"), 24,
					    address("192.168.39.3"), &err));
	ASSERT_OK(link_each_network(link, add_network, &later, &err));
	ASSERT(!strlist_has(&later, "10.244.1.0/24 br-test"));
}

TEST(the_default_route_in_two_halves_is_no_network)
{
	cleanup_with(link_closep) struct link_socket *link = fresh_network();
	cleanup_with(strlist_release) struct strlist networks = STRLIST_INIT;

	ASSERT_OK(link_add_bridge(link, "br-test", &err));
	ASSERT_OK(link_add_address(link, "br-test", address("10.8.0.2"), 24, &err));
	ASSERT_OK(link_replace_route(link, address("0.0.0.0"), 1, address("10.8.0.1"), &err));
	ASSERT_OK(link_replace_route(link, address("128.0.0.0"), 1, address("10.8.0.1"), &err));
	ASSERT_OK(link_each_network(link, add_network, &networks, &err));
	ASSERT_INT(networks.count, 2);
}

TEST(an_impossible_route_is_refused_with_a_reason)
{
	cleanup_with(link_closep) struct link_socket *link = fresh_network();
	cleanup_with(error_clear) struct error err = ERROR_INIT;

	ASSERT(link_replace_route(link, address("10.244.1.0"), 24, address("192.168.39.2"), &err) <
	       0);
	ASSERT(strstr(err.text, "cannot set the route to 10.244.1.0/24 via 192.168.39.2: "));
	ASSERT(err.reason == &reason_network);
}

TEST(lists_more_links_than_one_answer_holds)
{
	cleanup_with(link_closep) struct link_socket *link = fresh_network();
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;

	for (int i = 0; i < 60; i++) {
		char name[IFNAMSIZ];

		(void)snprintf(name, sizeof(name), "br-%d", i);
		ASSERT_OK(link_add_bridge(link, name, &err));
	}
	ASSERT_OK(link_each(link, add_name, &names, &err));
	ASSERT(strlist_has(&names, "lo"));
	ASSERT(strlist_has(&names, "br-0"));
	ASSERT(strlist_has(&names, "br-59"));
	ASSERT(names.count >= 61);
}

/* Deletes what it is told of, over the socket that tells. */
static int delete_bridge(const char *name, void *data)
{
	return strncmp(name, "br-", 3) == 0 ? link_delete(data, name, NULL) : 0;
}

static int refuse(const char *name arg_unused, void *data arg_unused)
{
	return -ECANCELED;
}

TEST(the_walker_may_use_the_socket_and_may_stop)
{
	cleanup_with(link_closep) struct link_socket *link = fresh_network();

	ASSERT_OK(link_add_bridge(link, "br-1", &err));
	ASSERT_OK(link_add_bridge(link, "br-2", &err));
	ASSERT_OK(link_each(link, delete_bridge, link, &err));
	ASSERT_INT(if_nametoindex("br-1"), 0);
	ASSERT_INT(if_nametoindex("br-2"), 0);
	ASSERT_INT(link_each(link, refuse, NULL, NULL), -ECANCELED);
}
