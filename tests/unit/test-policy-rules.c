/* The rules of network policies in real nftables: packets between network namespaces. */

#include <arpa/inet.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "base/file.h"
#include "base/process.h"
#include "driver/native-filter.h"
#include "host/firewall.h"
#include "host/namespace.h"
#include "policy/engine.h"
#include "test.h"

#define TABLE "manykube-policy"

#define WEB     "10.0.0.1"
#define DB      "10.0.0.2"
#define NEW     "10.0.0.9"
#define OUTSIDE "192.0.2.1"

static void run(const char *line)
{
	cleanup_with(strlist_release) struct strlist words = STRLIST_INIT;

	strlist_split(&words, line, ' ');
	if (process_run(words.items, NULL, NULL) != 0)
		test_fail(__FILE__, __LINE__, "failed: %s", line);
}

static void runf(const char *format, const char *name, const char *address)
{
	cleanup_free char *one = xasprintf("%s", format);
	struct strbuf line = STRBUF_INIT;

	for (char *p = one; *p; p++) {
		if (*p == '@')
			strbuf_add(&line, name);
		else if (*p == '%')
			strbuf_add(&line, address);
		else
			strbuf_add_char(&line, *p);
	}
	run(line.text);
	strbuf_release(&line);
}

/* A namespace NAME with ADDRESS behind this one. */
static void add_pod_namespace(const char *name, const char *address)
{
	runf("ip netns add @", name, address);
	runf("ip link add @ type veth peer name eth0 netns @", name, address);
	runf("ip addr add 169.254.1.1/32 dev @", name, address);
	runf("ip link set @ up", name, address);
	runf("ip -n @ link set lo up", name, address);
	runf("ip -n @ addr add %/32 dev eth0", name, address);
	runf("ip -n @ link set eth0 up", name, address);
	runf("ip -n @ route add default via 169.254.1.1 dev eth0 onlink", name, address);
	runf("ip route add %/32 dev @", name, address);
}

static void enter(const char *name)
{
	cleanup_free char *path = xasprintf("/run/netns/%s", name);
	cleanup_fd int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || setns(fd, CLONE_NEWNET) < 0)
		_exit(99);
}

/* Serve PORT in the namespace NAME until the test ends: TCP, and UDP, which answers. */
static void serve(const char *name, unsigned port)
{
	struct sockaddr_in any = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
	pid_t pid = fork();
	char buf[16];
	int tcp;
	int udp;

	ASSERT(pid >= 0);
	if (pid > 0)
		return;
	/* It ends with the test. */
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	enter(name);
	tcp = socket(AF_INET, SOCK_STREAM, 0);
	udp = socket(AF_INET, SOCK_DGRAM, 0);
	if (bind(tcp, (struct sockaddr *)&any, sizeof(any)) < 0 || listen(tcp, 16) < 0 ||
	    bind(udp, (struct sockaddr *)&any, sizeof(any)) < 0)
		_exit(1);
	for (;;) {
		struct sockaddr_in from;
		socklen_t len = sizeof(from);
		ssize_t n = recvfrom(udp, buf, sizeof(buf), 0, (struct sockaddr *)&from, &len);

		if (n > 0)
			(void)!sendto(udp, buf, (size_t)n, 0, (struct sockaddr *)&from, len);
	}
}

static int attempt(const char *to, int type, unsigned port)
{
	struct sockaddr_in name = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
	int fd = socket(AF_INET, type | SOCK_NONBLOCK, 0);
	struct pollfd wait = { .fd = fd, .events = type == SOCK_STREAM ? POLLOUT : POLLIN };
	int failed = 0;
	socklen_t len = sizeof(failed);

	(void)inet_pton(AF_INET, to, &name.sin_addr);
	if (connect(fd, (struct sockaddr *)&name, sizeof(name)) < 0 && errno != EINPROGRESS)
		return 1;
	if (type == SOCK_DGRAM && send(fd, "x", 1, 0) != 1)
		return 1;
	if (poll(&wait, 1, 300) <= 0)
		return 1;
	(void)getsockopt(fd, SOL_SOCKET, SO_ERROR, &failed, &len);
	return failed != 0;
}

/* Whether the namespace FROM (NULL: the node) reaches PORT of TO. */
static bool reaches(const char *from, const char *to, int type, unsigned port)
{
	pid_t pid = fork();
	int status;

	ASSERT(pid >= 0);
	if (pid == 0) {
		if (from)
			enter(from);
		_exit(attempt(to, type, port));
	}
	ASSERT(waitpid(pid, &status, 0) == pid);
	ASSERT(WIFEXITED(status) && WEXITSTATUS(status) != 99);
	return WEXITSTATUS(status) == 0;
}

static void make_node(void)
{
	if (geteuid() != 0 || unshare(CLONE_NEWNET | CLONE_NEWNS) < 0)
		test_skip("needs root");
	ASSERT(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0);
	ASSERT(mount("tmpfs", "/run", "tmpfs", 0, NULL) == 0);
	ASSERT_OK(file_poke("/proc/sys/net/ipv4/ip_forward", "1", &err));
	run("ip link set lo up");
	add_pod_namespace("web", WEB);
	add_pod_namespace("db", DB);
	add_pod_namespace("new", NEW);
	add_pod_namespace("outside", OUTSIDE);
	serve("web", 80);
	serve("db", 80);
	serve("db", 81);
	serve("new", 80);
	serve("outside", 80);
	for (int i = 0;
	     i < 100 &&
	     !(reaches("web", DB, SOCK_STREAM, 80) && reaches("web", DB, SOCK_STREAM, 81) &&
	       reaches("db", WEB, SOCK_STREAM, 80) && reaches("web", NEW, SOCK_STREAM, 80) &&
	       reaches("web", OUTSIDE, SOCK_STREAM, 80));
	     i++)
		;
}

/* What tests read lives as long as they do. */
static void *keep(void *object)
{
	static void *kept[1024];
	static size_t count;

	ASSERT(count < ARRAY_SIZE(kept));
	return kept[count++] = object;
}

static void *read_with(void *(*read)(const json_t *), const char *text)
{
	cleanup_free char *copy = xstrdup(text);
	json_auto_t *object = NULL;

	for (char *p = copy; *p; p++)
		*p = *p == '\'' ? '"' : *p;
	object = json_loads(copy, 0, NULL);
	ASSERT(object);
	return keep(read(object));
}

#define POD(app_, status_)                                                                \
	"{'metadata': {'namespace': 'shop', 'labels': {'app': '" app_                     \
	"'}}, 'spec': {'nodeName': 'node-1', 'containers': [{'ports': [{'name': 'http', " \
	"'containerPort': 80}]}]}, 'status': {'podIPs': [" status_ "]}}"

static void enforce(const char *spec, bool new_is_starting, bool all_held)
{
	const struct policy_pod *pods[] = {
		read_with(policy_read_pod, POD("web", "{'ip': '" WEB "'}")),
		read_with(policy_read_pod, POD("db", "{'ip': '" DB "'}, {'ip': 'fd00::2'}")),
		read_with(policy_read_pod, POD("new", "")),
	};
	const struct policy_namespace *shop = read_with(policy_read_namespace,
							"{'metadata': {'name': 'shop'}}");
	cleanup_free char *text = xasprintf("{'metadata': {'namespace': 'shop'}, 'spec': {%s}}",
					    spec);
	const struct policy *policy = read_with(policy_read_policy, text);
	const struct policy_objects objects = {
		pods, new_is_starting ? 3 : 2, &shop, 1, &policy, 1
	};
	struct policy_range range;
	struct policy_ranges ranges = { &range, 1 };
	struct policy_model model;
	cleanup_free char *rules = NULL;

	ASSERT(policy_range_parse_block("10.0.0.0/24", &range));
	policy_compile(&objects, "node-1", &ranges, &model);
	rules = policy_model_render(&model, all_held);
	ASSERT_OK(firewall_replace_table(TABLE, rules, &err));
	policy_model_release(&model);
}

TEST(ingress_is_denied_and_allowed_as_the_policy_says)
{
	make_node();
	ASSERT(reaches("outside", DB, SOCK_STREAM, 80));
	enforce("'podSelector': {'matchLabels': {'app': 'db'}}", false, false);
	ASSERT(!reaches("web", DB, SOCK_STREAM, 80));
	ASSERT(!reaches("outside", DB, SOCK_DGRAM, 80));
	ASSERT(reaches("db", WEB, SOCK_STREAM, 80));
	ASSERT(reaches("outside", WEB, SOCK_STREAM, 80));
	/* The node reaches its pods, and a pod itself. */
	ASSERT(reaches(NULL, DB, SOCK_STREAM, 80));
	ASSERT(reaches("db", DB, SOCK_STREAM, 80));
	enforce("'podSelector': {'matchLabels': {'app': 'db'}}, 'ingress': [{'from': [{'podSelector': "
		"{'matchLabels': {'app': 'web'}}}], 'ports': [{'port': 80}]}]",
		false, false);
	ASSERT(reaches("web", DB, SOCK_STREAM, 80));
	ASSERT(!reaches("web", DB, SOCK_STREAM, 81));
	ASSERT(!reaches("web", DB, SOCK_DGRAM, 80));
	ASSERT(!reaches("outside", DB, SOCK_STREAM, 80));
}

TEST(egress_is_denied_and_allowed_as_the_policy_says)
{
	make_node();
	enforce("'podSelector': {'matchLabels': {'app': 'web'}}, 'policyTypes': ['Egress']", false,
		false);
	ASSERT(!reaches("web", DB, SOCK_STREAM, 80));
	ASSERT(!reaches("web", OUTSIDE, SOCK_STREAM, 80));
	ASSERT(reaches("db", WEB, SOCK_STREAM, 80));
	enforce("'podSelector': {'matchLabels': {'app': 'web'}}, 'policyTypes': ['Egress'], 'egress': "
		"[{'to': [{'ipBlock': {'cidr': '192.0.2.0/24'}}]}, {'to': [{'ipBlock': {'cidr': "
		"'10.0.0.0/8', 'except': ['10.0.0.9/32']}}], 'ports': [{'port': 79, 'endPort': "
		"80}]}]",
		false, false);
	ASSERT(reaches("web", OUTSIDE, SOCK_STREAM, 80));
	ASSERT(reaches("web", DB, SOCK_STREAM, 80));
	ASSERT(!reaches("web", DB, SOCK_STREAM, 81));
	ASSERT(!reaches("web", NEW, SOCK_STREAM, 80));
	/* Of both ends, each has its say. */
	enforce("'podSelector': {}, 'policyTypes': ['Ingress', 'Egress'], 'egress': [{}]", false,
		false);
	ASSERT(!reaches("web", DB, SOCK_STREAM, 80));
	ASSERT(reaches("web", OUTSIDE, SOCK_STREAM, 80));
}

TEST(named_ports_and_protocols_are_told_apart)
{
	make_node();
	enforce("'podSelector': {'matchLabels': {'app': 'db'}}, 'ingress': [{'ports': [{'port': "
		"'http'}]}]",
		false, false);
	ASSERT(reaches("outside", DB, SOCK_STREAM, 80));
	ASSERT(!reaches("outside", DB, SOCK_STREAM, 81));
	ASSERT(!reaches("outside", DB, SOCK_DGRAM, 80));
	enforce("'podSelector': {'matchLabels': {'app': 'db'}}, 'ingress': [{'ports': [{'protocol': "
		"'UDP'}]}]",
		false, false);
	ASSERT(!reaches("outside", DB, SOCK_STREAM, 80));
	ASSERT(reaches("outside", DB, SOCK_DGRAM, 80));
}

TEST(unknown_pods_are_held_while_an_isolated_one_starts)
{
	static const char spec[] = "'podSelector': {'matchLabels': {'app': 'new'}}";

	make_node();
	enforce(spec, false, false);
	ASSERT(reaches("outside", NEW, SOCK_STREAM, 80));
	enforce(spec, true, false);
	ASSERT(!reaches("outside", NEW, SOCK_STREAM, 80));
	ASSERT(reaches("new", OUTSIDE, SOCK_STREAM, 80));
	ASSERT(reaches("outside", DB, SOCK_STREAM, 80));
	ASSERT(reaches(NULL, NEW, SOCK_STREAM, 80));
	/* After a node has started, all that are unknown. */
	enforce("'podSelector': {'matchLabels': {'app': 'db'}}, 'ingress': [{}]", false, true);
	ASSERT(!reaches("outside", NEW, SOCK_STREAM, 80));
	ASSERT(reaches("outside", DB, SOCK_STREAM, 80));
}

#define NODE_UID (NAMESPACE_UID_FIRST + 7 * NAMESPACE_IDS)

static const struct node_spec hostile = { .name = "node-1" };

/* Start a process that has a user namespace and a network of its own, like a node. */
static pid_t start_node(void)
{
	cleanup_fd int userns = -1;
	int ready[2];
	char byte;
	pid_t pid;

	if (geteuid() != 0)
		test_skip("needs root");
	ASSERT_OK(namespace_new_user(NODE_UID, &userns, &err));
	ASSERT_INT(pipe2(ready, O_CLOEXEC), 0);
	pid = fork();
	ASSERT(pid >= 0);
	if (pid == 0) {
		if (setns(userns, CLONE_NEWUSER) < 0 || setgroups(0, NULL) < 0 ||
		    setresgid(0, 0, 0) < 0 || setresuid(0, 0, 0) < 0 || unshare(CLONE_NEWNET) < 0)
			_exit(1);
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)prctl(PR_SET_DUMPABLE, 1);
		(void)!write(ready[1], "x", 1);
		for (;;)
			(void)pause();
	}
	ASSERT_INT(read(ready[0], &byte, 1), 1);
	return pid;
}

/* Enter the network of PID, for looking at it with the host's rights. */
static void enter_network(pid_t pid)
{
	cleanup_free char *path = xasprintf("/proc/%d/ns/net", (int)pid);
	cleanup_fd int fd = open(path, O_RDONLY | O_CLOEXEC);

	ASSERT(fd >= 0 && setns(fd, CLONE_NEWNET) == 0);
}

TEST(rules_of_any_size_are_loaded_in_a_node_and_removed)
{
	struct strbuf rules = STRBUF_INIT;
	pid_t pid = start_node();

	/* Far more than a socket takes without rights on the host. */
	strbuf_add(&rules, "set many { type ipv4_addr; elements = { 10.0.0.0");
	for (unsigned i = 1; i < 60000; i++)
		strbuf_addf(&rules, ", 10.%u.%u.%u", i >> 16, i >> 8 & 255, i & 255);
	strbuf_add(&rules, " }\n}\n");
	ASSERT_OK(native_filter(&hostile, pid, TABLE, rules.text, &err));
	ASSERT_OK(native_filter(&hostile, pid, TABLE, "chain a {\n}\n", &err));
	enter_network(pid);
	ASSERT(firewall_has_table(TABLE));
	ASSERT_OK(native_filter(&hostile, pid, TABLE, NULL, &err));
	ASSERT(!firewall_has_table(TABLE));
	strbuf_release(&rules);
	(void)kill(pid, SIGKILL);
}

/* nft reads what the node's root has put into the kernel: it must not have rights of the host. */
TEST(rules_of_a_node_are_loaded_without_rights_on_the_host)
{
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	cleanup_free char *path = xasprintf("%s/file-of-the-host", test_dir());
	cleanup_free char *rules = xasprintf("include \"%s\"\n", path);
	pid_t pid = start_node();

	ASSERT_OK(file_put(path, "chain a {\n}\n", 12, 0644, &err));
	ASSERT(native_filter(&hostile, pid, TABLE, rules, &why) < 0);
	ASSERT(strstr(why.text, "cannot set nftables table"));
	(void)kill(pid, SIGKILL);
}

/* The pid of a node that has ended may be somebody else's. */
TEST(rules_are_not_loaded_into_a_network_of_the_host)
{
	cleanup_with(error_clear) struct error why = ERROR_INIT;

	if (geteuid() != 0 || unshare(CLONE_NEWNET) < 0)
		test_skip("needs root");
	ASSERT(native_filter(&hostile, getpid(), TABLE, "chain a {\n}\n", &why) < 0);
	ASSERT(!firewall_has_table(TABLE));
}
