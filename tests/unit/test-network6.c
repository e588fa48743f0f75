/* A cluster's network of both families at work: packets from another machine, and from a node. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <netinet/icmp6.h>
#include <netinet/ip6.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/process.h"
#include "host/firewall.h"
#include "network/network.h"
#include "network/network6.h"
#include "routing/forwarding.h"
#include "test.h"

#define BRIDGE  "mk00000001"
#define PREFIX  "fd12:3456:789a"
#define GATEWAY PREFIX "::1"
#define NODE    PREFIX "::2"
#define POD     PREFIX ":102::5"
#define HOST    "2001:db8:1::1"
#define OTHER   "2001:db8:1::2"
#define PORT    7777

static struct node nodes[] = { { .address = "192.168.39.2",
				 .pod_cidr = "10.244.0.0/24",
				 .address6 = NODE,
				 .pod_cidr6 = PREFIX ":102::/64" } };

static struct profile profile = {
	.name = "test",
	.dir = "/nonexistent",
	.bridge = BRIDGE,
	.subnet = "192.168.39.0/24",
	.gateway = "192.168.39.1",
	.pod_subnet = "10.244.0.0/16",
	.service_subnet = "10.96.0.0/12",
	.ipv6_prefix = PREFIX "::/48",
	.cni = "auto",
	.api_port = 16443,
	.nodes = nodes,
	.node_count = 1,
};

static int lan = -1;  /* packets of another machine, without a link layer */
static int node = -1; /* frames of a node */
static struct ifreq bridge_address;

static void run(char *const *argv)
{
	const struct process_options quiet = { .output = "/dev/null" };

	ASSERT_INT(process_run(argv, &quiet, NULL), 0);
}

static char *output_of(char *const *argv)
{
	cleanup_free char *path = xasprintf("%s/output", test_dir());
	const struct process_options options = { .output = path };
	struct strbuf text = STRBUF_INIT;

	(void)unlink(path);
	ASSERT_INT(process_run(argv, &options, NULL), 0);
	ASSERT_OK(file_read(path, 65536, &text, &err));
	return strbuf_take(&text);
}

static int open_tun(const char *name, int kind)
{
	struct ifreq request = { .ifr_flags = (short)(kind | IFF_NO_PI) };
	int fd = open("/dev/net/tun", O_RDWR | O_CLOEXEC | O_NONBLOCK);

	(void)snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", name);
	if (fd < 0 || ioctl(fd, TUNSETIFF, &request) < 0)
		test_skip("needs /dev/net/tun");
	return fd;
}

/* A host with another machine on a link and a cluster's node. */
static void begin_network(void)
{
	int fd;

	if (unshare(CLONE_NEWNET) < 0)
		test_skip("needs CAP_SYS_ADMIN");
	if (!file_exists("/proc/sys/net/ipv6/conf/all"))
		test_skip("needs IPv6");
	run(ARGV("ip", "link", "set", "lo", "up"));
	lan = open_tun("lan0", IFF_TUN);
	run(ARGV("ip", "addr", "add", HOST "/64", "dev", "lan0", "nodad"));
	run(ARGV("ip", "link", "set", "lan0", "up"));
	ASSERT_OK(network_up(&profile, &err));
	node = open_tun(BRIDGE ".0", IFF_TAP);
	run(ARGV("ip", "link", "set", BRIDGE ".0", "master", BRIDGE, "up"));
	run(ARGV("ip", "neigh", "replace", NODE, "lladdr", "02:00:00:00:00:02", "dev", BRIDGE));
	(void)strcpy(bridge_address.ifr_name, BRIDGE);
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	ASSERT_INT(ioctl(fd, SIOCGIFHWADDR, &bridge_address), 0);
	(void)close(fd);
}

struct packet {
	uint8_t bytes[512];
	size_t len;
};

static struct packet packet_of(uint8_t protocol, const char *from, const char *to,
			       const void *payload, size_t len, size_t checksum_at)
{
	struct packet packet = { .len = sizeof(struct ip6_hdr) + len };
	struct ip6_hdr header = { .ip6_plen = htons((uint16_t)len),
				  .ip6_nxt = protocol,
				  .ip6_hlim = 255 };
	uint32_t sum = protocol + (uint32_t)len;
	uint8_t *body = packet.bytes + sizeof(header);

	header.ip6_vfc = 0x60;
	ASSERT_INT(inet_pton(AF_INET6, from, &header.ip6_src), 1);
	ASSERT_INT(inet_pton(AF_INET6, to, &header.ip6_dst), 1);
	memcpy(packet.bytes, &header, sizeof(header));
	memcpy(body, payload, len);
	/* The pseudo header begins with the addresses, the last 32 bytes of the header. */
	for (size_t i = 8; i < packet.len; i++)
		sum += i % 2 ? packet.bytes[i] : (uint32_t)packet.bytes[i] << 8;
	while (sum >> 16)
		sum = (sum >> 16) + (sum & 0xffff);
	body[checksum_at] = (uint8_t)(~sum >> 8);
	body[checksum_at + 1] = (uint8_t)~sum;
	return packet;
}

static struct packet udp(const char *from, unsigned from_port, const char *to, unsigned to_port)
{
	uint8_t datagram[9] = { (uint8_t)(from_port >> 8),
				(uint8_t)from_port,
				(uint8_t)(to_port >> 8),
				(uint8_t)to_port,
				0,
				sizeof(datagram),
				0,
				0,
				'x' };

	return packet_of(IPPROTO_UDP, from, to, datagram, sizeof(datagram), 6);
}

static struct packet ping(const char *from, const char *to)
{
	uint8_t request[8] = { ICMP6_ECHO_REQUEST, [5] = 1 };

	return packet_of(IPPROTO_ICMPV6, from, to, request, sizeof(request), 2);
}

/* What FROM tells TO about the packet ABOUT: that it is too big. */
static struct packet too_big(const char *from, const char *to, const struct packet *about)
{
	uint8_t message[256] = { ICMP6_PACKET_TOO_BIG, [6] = 1300 >> 8, [7] = 1300 & 0xff };

	memcpy(message + 8, about->bytes, about->len);
	return packet_of(IPPROTO_ICMPV6, from, to, message, 8 + about->len, 2);
}

static void send_from_lan(struct packet packet)
{
	ASSERT_INT(write(lan, packet.bytes, packet.len), packet.len);
}

static void send_from_node(struct packet packet)
{
	uint8_t frame[14 + sizeof(packet.bytes)] = { [6] = 2, [11] = 2, [12] = 0x86, [13] = 0xdd };

	memcpy(frame, bridge_address.ifr_hwaddr.sa_data, 6);
	memcpy(frame + 14, packet.bytes, packet.len);
	ASSERT_INT(write(node, frame, 14 + packet.len), 14 + packet.len);
}

/* What is to come may take long on a busy machine. */
#define COMES_MS  20000
#define MOMENT_MS 400

/* Whether within a time a datagram from the port PORT of FROM (NULL: anybody) comes out of FD. */
static bool arrives(int fd, const char *from, unsigned port, int timeout_ms)
{
	int64_t deadline_ms = clock_now_ms() + timeout_ms;
	size_t skip = fd == node ? 14 : 0;
	struct pollfd wait = { .fd = fd, .events = POLLIN };
	struct in6_addr source;

	if (from)
		ASSERT_INT(inet_pton(AF_INET6, from, &source), 1);
	while (poll(&wait, 1, (int)MAX(0, deadline_ms - clock_now_ms())) > 0) {
		uint8_t bytes[2048] = { 0 };
		const uint8_t *ip = bytes + skip;

		if (read(fd, bytes, sizeof(bytes)) > 0 && ip[0] >> 4 == 6 && ip[6] == IPPROTO_UDP &&
		    (unsigned)(ip[40] << 8 | ip[41]) == port &&
		    (!from || memcmp(ip + 8, &source, 16) == 0))
			return true;
	}
	return false;
}

/* A socket of this host at PORT of all its addresses. */
static int listen_here(void)
{
	const struct sockaddr_in6 name = { .sin6_family = AF_INET6, .sin6_port = htons(PORT) };
	int fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	ASSERT_INT(bind(fd, (const struct sockaddr *)&name, sizeof(name)), 0);
	return fd;
}

static bool is_heard(int fd, int timeout_ms)
{
	struct pollfd wait = { .fd = fd, .events = POLLIN };
	char byte;

	return poll(&wait, 1, timeout_ms) > 0 && recv(fd, &byte, 1, 0) == 1;
}

/* Wait until this host has dealt with all that the node has sent so far. */
static void let_node_be_heard(void)
{
	cleanup_fd int fd = listen_here();

	send_from_node(udp(NODE, 4000, GATEWAY, PORT));
	ASSERT(is_heard(fd, COMES_MS));
}

TEST(nodes_and_pods_reach_this_host_at_its_address)
{
	cleanup_fd int fd = -1;

	begin_network();
	fd = listen_here();
	send_from_node(udp(NODE, 4000, GATEWAY, PORT));
	ASSERT(is_heard(fd, COMES_MS));
	send_from_node(udp(POD, 4000, HOST, PORT));
	ASSERT(is_heard(fd, COMES_MS));
	ASSERT_OK(network_down(&profile, &err));
}

TEST(nodes_send_nothing_from_addresses_that_are_not_theirs)
{
	static const char *const others[] = { "2001:db8:2::1", "fe80::2", OTHER,
					      "fd12:3456:789b::2" };
	cleanup_fd int fd = -1;

	begin_network();
	fd = listen_here();
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		send_from_node(udp(others[i], 4000, GATEWAY, PORT));
		ASSERT(!is_heard(fd, MOMENT_MS));
	}
	/* Nor to everybody on the link. */
	send_from_node(udp(NODE, 4000, "ff02::1", PORT));
	ASSERT(!is_heard(fd, MOMENT_MS));
	ASSERT_OK(network_down(&profile, &err));
}

TEST(another_machine_reaches_the_host_but_not_its_address_in_the_cluster)
{
	cleanup_fd int fd = -1;

	begin_network();
	fd = listen_here();
	send_from_lan(udp(OTHER, 4000, HOST, PORT));
	ASSERT(is_heard(fd, COMES_MS));
	send_from_lan(udp(OTHER, 4000, GATEWAY, PORT));
	ASSERT(!is_heard(fd, MOMENT_MS));
	/* In the name of a node. */
	send_from_lan(udp(NODE, 4000, HOST, PORT));
	ASSERT(!is_heard(fd, MOMENT_MS));
	ASSERT_OK(network_down(&profile, &err));
}

TEST(another_machine_reaches_no_node_even_if_this_host_is_a_router)
{
	begin_network();
	ASSERT_OK(file_poke("/proc/sys/net/ipv6/conf/all/forwarding", "1", &err));
	send_from_lan(udp(OTHER, 4001, NODE, 53));
	ASSERT(!arrives(node, NULL, 4001, MOMENT_MS));
	send_from_lan(udp(OTHER, 4002, POD, 53));
	ASSERT(!arrives(node, NULL, 4002, MOMENT_MS));
	ASSERT_OK(network_down(&profile, &err));
}

TEST(nodes_reach_others_with_the_hosts_address)
{
	begin_network();
	if (!network6_reaches_others(&profile))
		test_skip("needs a kernel that forwards IPv6 per interface");
	send_from_node(udp(POD, 4003, OTHER, 9));
	ASSERT(arrives(lan, HOST, 4003, COMES_MS));
	/* An answer comes back. */
	run(ARGV("ip", "neigh", "replace", NODE, "lladdr", "02:00:00:00:00:02", "dev", BRIDGE));
	send_from_lan(udp(OTHER, 9, HOST, 4003));
	ASSERT(arrives(node, OTHER, 9, COMES_MS));
	/* Addresses of services mean nothing here. */
	send_from_node(udp(NODE, 4004, PREFIX ":ffff::10", 9));
	ASSERT(!arrives(lan, NULL, 4004, MOMENT_MS));
	ASSERT_OK(network_down(&profile, &err));
}

TEST(an_offline_cluster_reaches_nobody_even_if_this_host_is_a_router)
{
	begin_network();
	profile.offline = true;
	ASSERT_OK(network_up(&profile, &err));
	ASSERT_OK(file_poke("/proc/sys/net/ipv6/conf/all/forwarding", "1", &err));
	send_from_node(udp(NODE, 4005, OTHER, 9));
	ASSERT(!arrives(lan, NULL, 4005, MOMENT_MS));
	ASSERT_OK(network_down(&profile, &err));
}

/* What this host believes of the way to nodes. */
TEST(another_machine_tells_this_host_nothing_of_the_way_to_nodes)
{
	struct packet sent = ping(GATEWAY, NODE);
	cleanup_free char *route = NULL;
	cleanup_free char *own = NULL;

	begin_network();
	send_from_lan(too_big(OTHER, GATEWAY, &sent));
	send_from_lan(too_big(OTHER, HOST, &sent));
	route = output_of(ARGV("ip", "-6", "route", "get", NODE));
	ASSERT(strstr(route, BRIDGE) && !strstr(route, "mtu"));
	/* A node tells it of the way to itself only. */
	send_from_node(too_big(NODE, GATEWAY, &sent));
	let_node_be_heard();
	own = output_of(ARGV("ip", "-6", "route", "get", NODE));
	ASSERT(strstr(own, "mtu 1300"));
	ASSERT_OK(network_down(&profile, &err));
}

TEST(a_node_tells_this_host_nothing_of_the_way_to_others)
{
	struct packet sent = ping(HOST, OTHER);
	cleanup_free char *before = NULL;
	cleanup_free char *after = NULL;

	begin_network();
	send_from_node(too_big(NODE, HOST, &sent));
	let_node_be_heard();
	before = output_of(ARGV("ip", "-6", "route", "get", OTHER));
	ASSERT(strstr(before, "lan0") && !strstr(before, "mtu"));
	/* Whom the packet went to may tell. */
	send_from_lan(too_big(OTHER, HOST, &sent));
	after = output_of(ARGV("ip", "-6", "route", "get", OTHER));
	ASSERT(strstr(after, "mtu 1300"));
	ASSERT_OK(network_down(&profile, &err));
}

static bool reads(const char *path, char want)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;

	ASSERT_OK(file_read(path, 16, &text, &err));
	return *text.text == want;
}

TEST(this_host_stays_what_it_was)
{
	cleanup_free char *routes = NULL;

	begin_network();
	/* Others' links go on heeding their routers. */
	ASSERT(reads("/proc/sys/net/ipv6/conf/all/forwarding", '0'));
	ASSERT(reads("/proc/sys/net/ipv6/conf/lan0/forwarding", '0'));
	ASSERT(reads("/proc/sys/net/ipv6/conf/lan0/accept_ra", '1'));
	ASSERT(reads("/proc/sys/net/ipv6/conf/" BRIDGE "/accept_ra", '0'));
	ASSERT(reads("/proc/sys/net/ipv6/conf/" BRIDGE "/accept_redirects", '0'));
	routes = output_of(ARGV("ip", "-6", "route", "show", PREFIX ":102::/64"));
	ASSERT(strstr(routes, "via " NODE " dev " BRIDGE));
	ASSERT_OK(network_forget(&nodes[0], &err));
	free(routes);
	routes = output_of(ARGV("ip", "-6", "route", "show", PREFIX ":102::/64"));
	ASSERT_STR(routes, "");
	/* Coming up again keeps addresses and routes. */
	ASSERT_OK(network_up(&profile, &err));
	ASSERT_OK(network_up(&profile, &err));
	ASSERT_OK(network_down(&profile, &err));
	if (file_exists("/proc/sys/net/ipv6/conf/lan0/force_forwarding"))
		ASSERT(reads("/proc/sys/net/ipv6/conf/lan0/force_forwarding", '0'));
}

/* A cluster that was made without IPv6 gets none. */
TEST(a_prefix_is_chosen_for_new_clusters_of_both_families_only)
{
	struct profile plain = { .name = "plain", .dir = "/nonexistent" };
	struct profile dual = { .name = "dual", .dir = "/nonexistent", .ip_family = "dual" };
	cleanup_free char *first = NULL;
	struct subnet6 prefix;

	ASSERT_INT(setenv("MANYKUBE_HOME", test_dir(), 1), 0);
	if (!file_exists("/proc/sys/net/ipv6/conf/all"))
		test_skip("needs IPv6");
	ASSERT_OK(network6_plan(&plain, &err));
	ASSERT(!plain.ipv6_prefix);
	plain.ip_family = "ipv4";
	ASSERT_OK(network6_plan(&plain, &err));
	ASSERT(!plain.ipv6_prefix);
	ASSERT_OK(network6_plan(&dual, &err));
	ASSERT_OK(network6_prefix(&dual, &prefix, &err));
	ASSERT_INT(prefix.address.s6_addr[0], 0xfd);
	first = xstrdup(dual.ipv6_prefix);
	ASSERT_OK(network6_plan(&dual, &err));
	ASSERT_STR(dual.ipv6_prefix, first);
	free(dual.ipv6_prefix);
}

TEST(the_kernel_takes_all_kinds_of_rules)
{
	static char *const accesses[] = { NULL, "all", "none", "8080" };

	if (unshare(CLONE_NEWNET) < 0)
		test_skip("needs CAP_SYS_ADMIN");
	for (size_t i = 0; i < ARRAY_SIZE(accesses); i++) {
		cleanup_free char *open = NULL;
		cleanup_free char *offline = NULL;

		profile.host_access = accesses[i];
		profile.offline = false;
		open = network_rules(&profile);
		profile.offline = true;
		offline = network_rules(&profile);
		ASSERT_OK(firewall_replace_table(BRIDGE, open, &err));
		ASSERT_OK(firewall_replace_table(BRIDGE, offline, &err));
	}
}
