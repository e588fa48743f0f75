#include <arpa/inet.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "base/process.h"
#include "host/firewall.h"
#include "network/network.h"
#include "network/port-holder.h"
#include "test.h"

TEST(the_same_dir_has_the_same_bridge_and_another_has_another)
{
	cleanup_free char *one = profile_bridge_name("/home/a/.manykube/profiles/dev");
	cleanup_free char *again = profile_bridge_name("/home/a/.manykube/profiles/dev");
	cleanup_free char *other = profile_bridge_name("/home/b/.manykube/profiles/dev");

	ASSERT_STR(one, again);
	ASSERT(strcmp(one, other) != 0);
	/* A node's link adds up to four characters, and 15 are allowed. */
	ASSERT_INT(strlen(one), 10);
}

TEST(finds_the_name_servers_and_nothing_else)
{
	cleanup_with(strlist_release) struct strlist servers = STRLIST_INIT;
	cleanup_free char *text = NULL;

	network_parse_resolv("# nameserver 1.1.1.1\n"
			     "search example.org\n"
			     "nameserver 192.0.2.1\n"
			     "nameserver\t127.0.0.53 # local\n"
			     "nameserver fe80::1\n"
			     "nameserver\n"
			     "nameserver 300.1.1.1\n",
			     &servers);
	text = strlist_join(&servers, " ");
	ASSERT_STR(text, "192.0.2.1:53 127.0.0.53:53");
}

TEST(who_plans_a_network_keeps_others_from_it)
{
	cleanup_fd int namespace = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	cleanup_fd int other = -1;
	cleanup_free char *path = NULL;
	struct stat st;
	int fd = -1;

	if (geteuid() != 0)
		test_skip("needs root");
	/* What every user can do. */
	ASSERT_INT(flock(namespace, LOCK_EX | LOCK_NB), 0);
	(void)alarm(20);
	ASSERT_OK(network_lock(&fd, &err));
	ASSERT_INT(fstat(namespace, &st), 0);
	path = xasprintf("/run/manykube/network-%llu", (unsigned long long)st.st_ino);
	other = open(path, O_RDONLY | O_CLOEXEC);
	ASSERT(fstat(other, &st) == 0 && st.st_uid == 0 && (st.st_mode & 0777) == 0600);
	ASSERT_INT(flock(other, LOCK_EX | LOCK_NB), -1);
	ASSERT_INT(errno, EWOULDBLOCK);
	(void)close(fd);
	ASSERT_INT(flock(other, LOCK_EX | LOCK_NB), 0);
}

TEST(a_user_plans_whatever_others_lock)
{
	cleanup_fd int namespace = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	cleanup_free char *path = xasprintf("%s/locks/.network", test_dir());
	cleanup_fd int fd = -1;
	struct stat st;

	if (geteuid() != 0)
		test_skip("needs root");
	ASSERT_INT(flock(namespace, LOCK_EX | LOCK_NB), 0);
	ASSERT_INT(setenv("MANYKUBE_HOME", test_dir(), 1), 0);
	ASSERT_INT(chown(test_dir(), 12345, 12345), 0);
	ASSERT_INT(seteuid(12345), 0);
	(void)alarm(20);
	ASSERT_OK(network_lock(&fd, &err));
	/* The search for leaks at the end needs the rights of the beginning. */
	ASSERT_INT(seteuid(0), 0);
	ASSERT_INT(stat(path, &st), 0);
	ASSERT_INT(st.st_mode & 0777, 0600);
}

static char *rules_of(bool offline, char *host_access)
{
	char *registries[] = { "192.168.39.1:5000", "elsewhere:5001", NULL };
	char *mirrors[] = { "docker.io=http://host.manykube.internal:5002/v2",
			    "https://mirror.example:5003", "http://192.168.39.1", NULL };
	const struct profile profile = {
		.insecure_registries = { registries, 2 },
		.registry_mirrors = { mirrors, 3 },
		.bridge = "mk00000001",
		.subnet = "192.168.39.0/24",
		.gateway = "192.168.39.1",
		.pod_subnet = "10.244.0.0/16",
		.service_subnet = "10.96.0.0/12",
		.offline = offline,
		.host_access = host_access,
	};

	return network_rules(&profile);
}

TEST(the_kernel_takes_all_kinds_of_rules)
{
	static char *const accesses[] = { NULL, "all", "none", "8080", "8080,9090,8080,53" };

	if (unshare(CLONE_NEWNET) < 0)
		test_skip("needs CAP_SYS_ADMIN");
	for (size_t i = 0; i < ARRAY_SIZE(accesses); i++) {
		cleanup_free char *open = rules_of(false, accesses[i]);
		cleanup_free char *offline = rules_of(true, accesses[i]);

		ASSERT_OK(firewall_replace_table("mk00000001", open, &err));
		ASSERT_OK(firewall_replace_table("mk00000001", offline, &err));
	}
}

TEST(an_offline_cluster_reaches_nothing_of_the_host_unless_told)
{
	static const char limit[] = "meta l4proto tcp reject with tcp reset";
	static const char port[] = "th dport { 8080 } accept";
	cleanup_free char *open = rules_of(false, NULL);
	cleanup_free char *offline = rules_of(true, NULL);
	cleanup_free char *told = rules_of(true, "all");
	cleanup_free char *one = rules_of(true, "8080");
	cleanup_free char *none = rules_of(false, "none");

	ASSERT(!strstr(open, limit) && strstr(offline, limit) && !strstr(told, limit));
	ASSERT(strstr(one, limit) && strstr(one, port));
	ASSERT(strstr(none, limit) && strstr(none, "masquerade") && !strstr(none, "th dport"));
	/* Registries on this host are meant to be reached. */
	ASSERT(strstr(offline, "th dport { 5000, 5002, 80 } accept"));
}

/* Whether a cluster whose front door has the port WAS may get WANTED instead. */
static int change_port(char *was, char *wanted)
{
	const struct profile before = { .api_port = 16443, .ports = { &was, 1 } };
	const struct profile after = { .api_port = 16443, .ports = { &wanted, 1 } };

	return network_ports_are_free(&after, &before, NULL);
}

TEST(a_published_port_can_be_narrowed_and_widened)
{
	int own;

	if (unshare(CLONE_NEWNET) < 0)
		test_skip("needs CAP_SYS_ADMIN");
	ASSERT_INT(process_run(ARGV("ip", "link", "set", "lo", "up"), NULL, NULL), 0);
	ASSERT_INT(
		process_run(ARGV("ip", "addr", "add", "198.51.100.1/32", "dev", "lo"), NULL, NULL),
		0);
	own = test_listen("0.0.0.0", 18080);
	ASSERT_INT(change_port("0.0.0.0:18080:80", "18080:80"), 0);
	ASSERT_INT(change_port("0.0.0.0:18080:80", "198.51.100.1:18080:80"), 0);
	ASSERT_INT(change_port("18081:80", "18080:80"), -EADDRINUSE);
	(void)close(own);
	(void)test_listen("127.0.0.1", 18080);
	ASSERT_INT(change_port("18080:80", "0.0.0.0:18080:80"), 0);
	ASSERT_INT(change_port("18081:80", "0.0.0.0:18080:80"), -EADDRINUSE);
	/* Another program has it at another address. */
	(void)test_listen("198.51.100.1", 18080);
	ASSERT_INT(change_port("18080:80", "0.0.0.0:18080:80"), -EADDRINUSE);
}

TEST(nodes_reach_the_registry_whatever_else_they_reach)
{
	const struct profile profile = {
		.bridge = "mk00000001",
		.subnet = "192.168.39.0/24",
		.gateway = "192.168.39.1",
		.pod_subnet = "10.244.0.0/16",
		.service_subnet = "10.96.0.0/12",
		.host_access = "none",
		.api_port = 16443,
		.registry_port = 5001,
	};
	cleanup_free char *rules = network_rules(&profile);

	ASSERT(strstr(rules, "ip daddr 192.168.39.1 tcp dport 5001 accept"));
	/* But not its port of the loopback, which is the host's. */
	ASSERT(strstr(rules, "ip daddr 127.0.0.0/8 tcp dport { 16443, 5001 } drop"));
}

/* Listen at an address that this host does not have, as every user can. */
static void listen_freely(const char *address, unsigned port)
{
	struct sockaddr_in name = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int on = 1;

	ASSERT_INT(inet_pton(AF_INET, address, &name.sin_addr), 1);
	ASSERT_INT(setsockopt(fd, IPPROTO_IP, IP_FREEBIND, &on, sizeof(on)), 0);
	ASSERT_INT(bind(fd, (struct sockaddr *)&name, sizeof(name)), 0);
	ASSERT_INT(listen(fd, 1), 0);
}

TEST(a_registry_needs_a_port_that_is_free)
{
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	char *ports[] = { "5002:80", "198.51.100.1:5003:80" };
	struct profile before = { .api_port = 16443 };
	struct profile after = { .api_port = 16443, .ports = { ports, 2 }, .registry_port = 5001 };

	if (unshare(CLONE_NEWNET) < 0)
		test_skip("needs CAP_SYS_ADMIN");
	ASSERT_INT(process_run(ARGV("ip", "link", "set", "lo", "up"), NULL, NULL), 0);
	ASSERT_INT(
		process_run(ARGV("ip", "addr", "add", "198.51.100.1/32", "dev", "lo"), NULL, NULL),
		0);
	ASSERT_INT(network_ports_are_free(&after, &before, &why), 0);
	(void)test_listen("127.0.0.1", 5001);
	ASSERT_INT(network_ports_are_free(&after, &before, &why), -EADDRINUSE);
	ASSERT(strstr(why.text, "registry: port 5001 of 127.0.0.1 is in use"));
	error_clear(&why);
	/* Its own front door has it. */
	after.registry_port = 5004;
	after.gateway = (char[]){ "192.0.2.1" };
	ASSERT_INT(network_ports_are_free(&after, &before, &why), 0);
	listen_freely("192.0.2.1", 5004);
	ASSERT_INT(network_ports_are_free(&after, &before, &why), -EADDRINUSE);
	ASSERT(strstr(why.text, "registry: port 5004 of 192.0.2.1 is in use"));
	error_clear(&why);
	after.gateway = NULL;
	after.registry_port = 5001;
	before.registry_port = 5001;
	ASSERT_INT(network_ports_are_free(&after, &before, &why), 0);
	after.registry_port = 5002;
	ASSERT_INT(network_ports_are_free(&after, &before, &why), -EADDRINUSE);
	ASSERT(strstr(why.text, "--ports"));
	error_clear(&why);
	after.registry_port = 16443;
	ASSERT_INT(network_ports_are_free(&after, &before, &why), -EADDRINUSE);
	ASSERT(strstr(why.text, "its API"));
	error_clear(&why);
	after.registry_port = 5003;
	ASSERT_INT(network_ports_are_free(&after, &before, &why), 0);
}

TEST(a_port_of_an_address_that_this_host_lacks_is_nobodys)
{
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	char *ports[] = { "198.51.100.1:5003:80" };
	struct profile before = { .api_port = 16443 };
	struct profile after = { .api_port = 16443, .ports = { ports, 1 } };

	if (unshare(CLONE_NEWNET) < 0)
		test_skip("needs CAP_SYS_ADMIN");
	/* The kernel lets programs listen at any address where there is none. */
	ASSERT_INT(process_run(ARGV("ip", "link", "set", "lo", "up"), NULL, NULL), 0);
	ASSERT_INT(network_ports_are_free(&after, &before, &why), -EADDRINUSE);
	ASSERT(strstr(why.text, "does not have that address"));
	ASSERT(why.hint && !strstr(why.hint, "stop") && strstr(why.hint, "ip address"));
}

TEST(the_holder_of_a_port_is_found_in_the_kernels_table)
{
	static const char *const lines[] = {
		"   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0 "
		"       0 4711 1 0000 100 0 0 10 0",
		"   1: 00000000:1F91 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0 "
		"       0 4712 1 0000 100 0 0 10 0",
		"   2: 0100007F:1F92 0100007F:8000 01 00000000:00000000 00:00000000 00000000     0 "
		"       0 4713 1 0000 100 0 0 10 0",
		"   3: 00000000000000000000000000000000:1F93 00000000000000000000000000000000:0000 0A "
		"00000000:00000000 00:00000000 00000000     0        0 4714 1 0000 100 0 0 10 0",
		"   4: 0000000000000000FFFF00000100007F:1F94 00000000000000000000000000000000:0000 0A "
		"00000000:00000000 00:00000000 00000000     0        0 4715 1 0000 100 0 0 10 0",
	};
	const struct in_addr loopback = { htonl(INADDR_LOOPBACK) };
	const struct in_addr other = { htonl(0xc6336401) };
	const struct in_addr all = { INADDR_ANY };
	unsigned long inode = 0;

	ASSERT(port_holder_parse(lines[0], loopback, 8080, &inode) && inode == 4711);
	ASSERT(port_holder_parse(lines[0], all, 8080, &inode));
	ASSERT(!port_holder_parse(lines[0], other, 8080, &inode));
	ASSERT(!port_holder_parse(lines[0], loopback, 8081, &inode));
	ASSERT(port_holder_parse(lines[1], other, 8081, &inode) && inode == 4712);
	/* A connection is no listener. */
	ASSERT(!port_holder_parse(lines[2], loopback, 8082, &inode));
	ASSERT(port_holder_parse(lines[3], other, 8083, &inode) && inode == 4714);
	ASSERT(port_holder_parse(lines[4], loopback, 8084, &inode) && inode == 4715);
	ASSERT(!port_holder_parse("  sl  local_address rem_address   st", loopback, 0, &inode));
	ASSERT(!port_holder_parse("", loopback, 0, &inode));
}

TEST(an_error_about_a_port_names_the_process_that_has_it)
{
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	char *ports[] = { "5004:80" };
	struct profile before = { .api_port = 16443 };
	struct profile after = { .api_port = 16443, .ports = { ports, 1 } };
	cleanup_free char *words = xasprintf("in use by 'test-network' (process %d)",
					     (int)getpid());

	if (unshare(CLONE_NEWNET) < 0)
		test_skip("needs CAP_SYS_ADMIN");
	ASSERT_INT(process_run(ARGV("ip", "link", "set", "lo", "up"), NULL, NULL), 0);
	(void)test_listen("127.0.0.1", 5004);
	ASSERT_INT(network_ports_are_free(&after, &before, &why), -EADDRINUSE);
	if (!strstr(why.text, words))
		test_fail(__FILE__, __LINE__, "%s", why.text);
}
