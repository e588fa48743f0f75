/* The rules of a cluster's network at work: packets from another machine, and from a node. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <netinet/ip.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/process.h"
#include "network/network.h"
#include "test.h"

#define BRIDGE  "mk00000001"
#define GATEWAY "192.168.39.1"
#define NODE    "192.168.39.2"
#define HOST    "198.51.100.1"
#define OTHER   "198.51.100.2"

#define ICMP_TOO_BIG 0x0304
#define TCP_SYN      0x02
#define TCP_RST      0x04
#define TCP_ACK      0x10

static char *ports[] = { "18080", "198.51.100.1:18080:30080", NULL };

static struct profile profile = {
	.name = "test",
	.dir = "/nonexistent",
	.bridge = BRIDGE,
	.subnet = "192.168.39.0/24",
	.gateway = GATEWAY,
	.pod_subnet = "10.244.0.0/16",
	.service_subnet = "10.96.0.0/12",
	.cni = "none",
	.api_port = 16443,
	.ports = { ports, 2 },
};

static int lan = -1;  /* packets of another machine, without a link layer */
static int node = -1; /* frames of a node */
static struct ifreq bridge_address;

static void run(char *const *argv)
{
	const struct process_options quiet = { .output = "/dev/null" };

	ASSERT_INT(process_run(argv, &quiet, NULL), 0);
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

/* A host that does not forward by itself, with another machine on a link and a cluster's node. */
static void begin_network(void)
{
	int fd;

	if (unshare(CLONE_NEWNET) < 0)
		test_skip("needs CAP_SYS_ADMIN");
	ASSERT_OK(file_poke("/proc/sys/net/ipv4/ip_forward", "1", &err));
	ASSERT_OK(file_poke("/proc/sys/net/ipv4/ip_forward", "0", &err));
	run(ARGV("ip", "link", "set", "lo", "up"));
	lan = open_tun("lan0", IFF_TUN);
	run(ARGV("ip", "addr", "add", HOST "/24", "dev", "lan0"));
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

static uint16_t checksum(const void *data, size_t len, uint32_t sum)
{
	const uint8_t *bytes = data;

	for (size_t i = 0; i < len; i++)
		sum += i % 2 ? bytes[i] : (uint32_t)bytes[i] << 8;
	while (sum >> 16)
		sum = (sum >> 16) + (sum & 0xffff);
	return (uint16_t)~sum;
}

struct packet {
	uint8_t bytes[256];
	size_t len;
};

static void put16(uint8_t *at, unsigned value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

static struct packet ip_packet(int protocol, const char *from, const char *to, const void *payload,
			       size_t len)
{
	struct packet packet = { .len = sizeof(struct iphdr) + len };
	struct iphdr header = {
		.version = 4,
		.ihl = 5,
		.tot_len = htons((uint16_t)packet.len),
		.ttl = 64,
		.protocol = (uint8_t)protocol,
		.saddr = inet_addr(from),
		.daddr = inet_addr(to),
	};

	header.check = htons(checksum(&header, sizeof(header), 0));
	memcpy(packet.bytes, &header, sizeof(header));
	memcpy(packet.bytes + sizeof(header), payload, len);
	return packet;
}

static struct packet udp(const char *from, unsigned from_port, const char *to, unsigned to_port)
{
	uint8_t header[8] = { 0 };

	put16(header, from_port);
	put16(header + 2, to_port);
	put16(header + 4, sizeof(header));
	return ip_packet(IPPROTO_UDP, from, to, header, sizeof(header));
}

static struct packet tcp(const char *from, unsigned from_port, const char *to, unsigned to_port,
			 uint8_t flags)
{
	struct {
		in_addr_t from;
		in_addr_t to;
		uint16_t protocol;
		uint16_t len;
	} pseudo = { inet_addr(from), inet_addr(to), htons(IPPROTO_TCP), htons(20) };
	uint8_t header[20] = { [7] = 1, [12] = 5 << 4, [13] = flags, [14] = 0xff };
	uint32_t sum = (uint16_t)~checksum(&pseudo, sizeof(pseudo), 0);

	put16(header, from_port);
	put16(header + 2, to_port);
	put16(header + 16, checksum(header, sizeof(header), sum));
	return ip_packet(IPPROTO_TCP, from, to, header, sizeof(header));
}

/* An ICMP error of the type and code KIND, sent by FROM to TO about the packet ABOUT. */
static struct packet icmp_error(unsigned kind, const char *from, const char *to,
				const struct packet *about)
{
	uint8_t message[128] = { (uint8_t)(kind >> 8),
				 (uint8_t)kind, [6] = 552 >> 8, [7] = 552 & 0xff };

	memcpy(message + 8, about->bytes, about->len);
	put16(message + 2, checksum(message, 8 + about->len, 0));
	return ip_packet(IPPROTO_ICMP, from, to, message, 8 + about->len);
}

/* What a router tells TO about the packet ABOUT: that it is too big. */
static struct packet too_big(const char *to, const struct packet *about)
{
	return icmp_error(ICMP_TOO_BIG, OTHER, to, about);
}

static void send_from_lan(struct packet packet)
{
	ASSERT_INT(write(lan, packet.bytes, packet.len), packet.len);
}

static void send_from_node(struct packet packet)
{
	uint8_t frame[14 + sizeof(packet.bytes)] = {
		[6] = 2, [11] = 2, [12] = 8
	}; /* from 02:00:00:00:00:02, IPv4 */

	memcpy(frame, bridge_address.ifr_hwaddr.sa_data, 6);
	memcpy(frame + 14, packet.bytes, packet.len);
	ASSERT_INT(write(node, frame, 14 + packet.len), 14 + packet.len);
}

/* Whether within a moment a packet of PROTOCOL comes out of FD whose payload begins with WORD (its
 * source port, or type and code of ICMP); TCP also needs FLAGS. */
static bool arrives(int fd, int protocol, unsigned word, uint8_t flags)
{
	int64_t deadline_ms = clock_now_ms() + 400;
	size_t skip = fd == node ? 14 : 0;
	struct pollfd wait = { .fd = fd, .events = POLLIN };

	while (poll(&wait, 1, (int)MAX(0, deadline_ms - clock_now_ms())) > 0) {
		uint8_t bytes[2048] = { 0 };
		const uint8_t *ip = bytes + skip;

		if (read(fd, bytes, sizeof(bytes)) > 0 && ip[0] == 0x45 && ip[9] == protocol &&
		    (unsigned)(ip[20] << 8 | ip[21]) == word &&
		    (protocol != IPPROTO_TCP || ip[33] == flags))
			return true;
	}
	return false;
}

TEST(another_machine_tells_nodes_nothing_of_the_way_to_the_host)
{
	struct packet asked = udp(NODE, 40000, GATEWAY, 53);
	struct packet outside = udp(NODE, 40001, OTHER, 9);
	struct packet seen_outside = udp(HOST, 40001, OTHER, 9);
	struct packet between = udp(NODE, 40002, "192.168.39.3", 9);

	begin_network();
	send_from_node(asked);
	(void)arrives(node, IPPROTO_ICMP, 0x0303, 0);
	send_from_lan(too_big(NODE, &asked));
	ASSERT(!arrives(node, IPPROTO_ICMP, ICMP_TOO_BIG, 0));
	send_from_lan(too_big(NODE, &between));
	ASSERT(!arrives(node, IPPROTO_ICMP, ICMP_TOO_BIG, 0));
	for (unsigned type = 4; type <= 12; type++) {
		if (type != 4 && type != 5 && type < 11)
			continue;
		send_from_lan(icmp_error(type << 8, OTHER, NODE, &asked));
		ASSERT(!arrives(node, IPPROTO_ICMP, type << 8, 0));
	}
	/* Of the way to others they are told, with their own address again. */
	send_from_node(outside);
	ASSERT(arrives(lan, IPPROTO_UDP, 40001, 0));
	send_from_lan(too_big(HOST, &seen_outside));
	ASSERT(arrives(node, IPPROTO_ICMP, ICMP_TOO_BIG, 0));
	ASSERT_OK(network_down(&profile, &err));
}

static int mtu_of(int fd)
{
	int mtu = 0;
	socklen_t size = sizeof(mtu);

	ASSERT_INT(getsockopt(fd, IPPROTO_IP, IP_MTU, &mtu, &size), 0);
	return mtu;
}

TEST(a_node_tells_this_host_nothing_of_the_way_to_others)
{
	struct sockaddr_in other = { .sin_family = AF_INET, .sin_port = htons(9) };
	struct sockaddr_in here = { .sin_family = AF_INET, .sin_port = htons(40009) };
	cleanup_fd int fd = -1;
	struct packet sent = udp(HOST, 40009, OTHER, 9);
	struct packet error = icmp_error(ICMP_TOO_BIG, NODE, HOST, &sent);
	int before;

	begin_network();
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	ASSERT_INT(inet_pton(AF_INET, OTHER, &other.sin_addr), 1);
	ASSERT_INT(bind(fd, (struct sockaddr *)&here, sizeof(here)), 0);
	ASSERT_INT(connect(fd, (struct sockaddr *)&other, sizeof(other)), 0);
	ASSERT_INT(send(fd, "x", 1, 0), 1);
	ASSERT(arrives(lan, IPPROTO_UDP, 40009, 0));
	before = mtu_of(fd);
	send_from_node(error);
	(void)arrives(node, IPPROTO_ICMP, 0x0303, 0);
	ASSERT_INT(mtu_of(fd), before);
	ASSERT_OK(network_down(&profile, &err));
}

TEST(another_machine_does_not_reach_the_clusters_ports_of_the_loopback)
{
	begin_network();
	ASSERT_OK(file_poke("/proc/sys/net/ipv4/conf/all/route_localnet", "1", &err));
	(void)test_listen("127.0.0.1", 16443);
	(void)test_listen("127.0.0.1", 18080);
	(void)test_listen("127.0.0.1", 9999);
	/* Somebody wanted this. */
	send_from_lan(tcp(OTHER, 4000, "127.0.0.1", 9999, TCP_SYN));
	ASSERT(arrives(lan, IPPROTO_TCP, 9999, TCP_SYN | TCP_ACK));
	send_from_lan(tcp(OTHER, 4001, "127.0.0.1", 16443, TCP_SYN));
	ASSERT(!arrives(lan, IPPROTO_TCP, 16443, TCP_SYN | TCP_ACK));
	send_from_lan(tcp(OTHER, 4002, "127.0.0.1", 18080, TCP_SYN));
	ASSERT(!arrives(lan, IPPROTO_TCP, 18080, TCP_SYN | TCP_ACK));
	ASSERT_OK(network_down(&profile, &err));
}

/* Otherwise a connection from outside that came about without the rules goes on as a node's. */
TEST(a_node_begins_connections_at_their_beginning)
{
	begin_network();
	send_from_node(tcp(NODE, 4000, OTHER, 80, TCP_SYN));
	ASSERT(arrives(lan, IPPROTO_TCP, 4000, TCP_SYN));
	send_from_node(tcp(NODE, 10250, OTHER, 4001, TCP_ACK));
	ASSERT(!arrives(lan, IPPROTO_TCP, 10250, TCP_ACK));
	send_from_node(tcp(NODE, 10250, OTHER, 4001, TCP_ACK));
	ASSERT(arrives(node, IPPROTO_TCP, 4001, TCP_RST));
	ASSERT_OK(network_down(&profile, &err));
}

TEST(a_start_ends_what_came_in_while_there_were_no_rules)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_free char *conntrack = process_find("conntrack");

	if (!conntrack)
		test_skip("needs conntrack");
	begin_network();
	run(ARGV("conntrack", "-I", "-p", "udp", "-t", "600", "-s", OTHER, "-d", NODE, "--sport",
		 "4200", "--dport", "53"));
	ASSERT_OK(network_up(&profile, &err));
	ASSERT_INT(process_capture(ARGV("conntrack", "-L", "-p", "udp"), NULL, &text, NULL), 0);
	ASSERT(!strstr(text.text, NODE));
	ASSERT_OK(network_down(&profile, &err));
}

/* As the other machine, have the host route to a third one, again and again until killed. */
static pid_t keep_sending(void)
{
	struct packet packet = udp(OTHER, 4000, "203.0.113.2", 9);
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		send_from_lan(packet);
}

TEST(the_host_is_no_router_while_a_cluster_goes_offline)
{
	pid_t sender;
	int far;

	begin_network();
	far = open_tun("far0", IFF_TUN);
	run(ARGV("ip", "addr", "add", "203.0.113.1/24", "dev", "far0"));
	run(ARGV("ip", "link", "set", "far0", "up"));
	ASSERT_OK(network_up(&profile, &err));
	sender = keep_sending();
	for (int i = 0; i < 10; i++) {
		profile.offline = !profile.offline;
		ASSERT_OK(network_up(&profile, &err));
	}
	(void)kill(sender, SIGKILL);
	(void)waitpid(sender, NULL, 0);
	ASSERT(!arrives(far, IPPROTO_UDP, 4000, 0));
	ASSERT_OK(network_down(&profile, &err));
}
