/* What one proxy does with many clients, in a network of its own. */
#include <arpa/inet.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "balancer/proxy.h"
#include "base/clock.h"
#include "host/link.h"
#include "test.h"

#define DOOR "10.9.0.1:4000"

static struct endpoint target;

static bool choose(arg_unused const unsigned *tried, unsigned tried_count, struct proxy_target *ret,
		   arg_unused void *data)
{
	*ret = (struct proxy_target){ .endpoint = &target, .id = 1 };
	return tried_count == 0;
}

static void failed(arg_unused unsigned id, arg_unused void *data)
{
}

/* When, after its start, the proxy's target goes, and how long its connections have then; 0:
 * never. */
static unsigned retire_after_ms;
static unsigned retire_limit_ms;

static int retire(void *data, arg_unused struct error *err)
{
	proxy_retire(data, 1, retire_limit_ms);
	return 0;
}

static int listen_on(const char *address)
{
	int fd;

	ASSERT_OK(endpoint_listen(address, SOCK_STREAM, &fd, &err));
	return fd;
}

/* A server that takes all connections and says nothing, and a proxy before it, in processes. */
static void start_proxy(unsigned silent_ms, unsigned idle_ms)
{
	cleanup_with(link_closep) struct link_socket *host = NULL;
	struct in_addr address;

	if (unshare(CLONE_NEWNET) < 0)
		test_skip("needs CAP_SYS_ADMIN");
	ASSERT_OK(link_open(&host, &err));
	ASSERT_OK(link_up(host, "lo", &err));
	for (int i = 1; i <= 4; i++) {
		address.s_addr = htonl(0x0a090000u + (unsigned)i);
		ASSERT_OK(link_add_address(host, "lo", address, 24, &err));
	}
	(void)listen_on("127.0.0.1:5000");
	ASSERT_OK(endpoint_parse("127.0.0.1:5000", &target, &err));
	if (fork() == 0) {
		const struct proxy_owner owner = { .choose = choose, .failed = failed };
		char *listen[] = { (char[]){ DOOR }, (char[]){ "127.0.0.1:4000" } };
		struct strlist names = STRLIST_INIT;
		struct door door = { .sockets = sockets_new(), .origins = origins_new() };
		struct proxy_limits limits = { .tally = tally_new(40),
					       .silent_ms = silent_ms,
					       .idle_ms = idle_ms };
		struct proxy *proxy;

		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		strlist_addf(&names, "tcp %s", listen[0]);
		strlist_addf(&names, "tcp %s", listen[1]);
		ASSERT_OK(loop_new(&door.loop, &err));
		ASSERT_OK(sockets_open(door.sockets, &names, &err));
		proxy = proxy_new(&door, &owner, &limits);
		ASSERT_OK(proxy_listen(proxy, listen, 2, &err));
		if (retire_after_ms) {
			struct loop_source *timer;

			ASSERT_OK(loop_add_timer(door.loop, retire_after_ms, 0, retire, proxy,
						 &timer, &err));
		}
		ASSERT_OK(loop_run(door.loop, &err));
		_exit(0);
	}
}

/* Connect from the address FROM; -1 while nobody listens. */
static int connect_from(const char *from, const char *to)
{
	cleanup_free char *own = xasprintf("%s:1", from);
	struct endpoint source;
	struct endpoint door;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	ASSERT_OK(endpoint_parse(own, &source, &err));
	((struct sockaddr_in *)&source.address)->sin_port = 0;
	ASSERT_OK(endpoint_parse(to, &door, &err));
	ASSERT(bind(fd, (struct sockaddr *)&source.address, source.len) == 0);
	for (int i = 0; i < 400; i++) {
		if (connect(fd, (struct sockaddr *)&door.address, door.len) == 0)
			return fd;
		clock_rest_ms(5);
	}
	test_fail(__FILE__, __LINE__, "nobody listens at %s", to);
}

/* Whether the connection FD is closed or reset within LIMIT_MS. */
static bool is_closed(int fd, int limit_ms)
{
	struct pollfd end = { .fd = fd, .events = POLLIN };
	char byte;

	return poll(&end, 1, limit_ms) == 1 && recv(fd, &byte, 1, MSG_DONTWAIT) <= 0;
}

static unsigned count_open(const int *fds, size_t count)
{
	unsigned still_open = 0;

	for (size_t i = 0; i < count; i++)
		still_open += !is_closed(fds[i], i == 0 ? 300 : 0);
	return still_open;
}

TEST(one_origin_can_not_use_all_connections)
{
	const struct linger at_once = { .l_onoff = 1, .l_linger = 0 };
	int greedy[60];
	int local[60];

	start_proxy(60000, 60000);
	for (size_t i = 0; i < ARRAY_SIZE(greedy); i++)
		greedy[i] = connect_from("10.9.0.2", DOOR);
	ASSERT_INT(count_open(greedy, ARRAY_SIZE(greedy)), 10);
	ASSERT(!is_closed(connect_from("10.9.0.3", DOOR), 300));
	/* The host has a share of its own, and leaves others theirs. */
	for (size_t i = 0; i < ARRAY_SIZE(local); i++)
		local[i] = connect_from("127.0.0.1", "127.0.0.1:4000");
	ASSERT_INT(count_open(local, ARRAY_SIZE(local)), 29);
	/* What ends is free for the next. */
	for (size_t i = 0; i < ARRAY_SIZE(greedy); i++) {
		(void)setsockopt(greedy[i], SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
		(void)close(greedy[i]);
	}
	clock_rest_ms(100);
	ASSERT(!is_closed(connect_from("10.9.0.4", DOOR), 300));
	ASSERT(!is_closed(connect_from("10.9.0.2", DOOR), 300));
}

TEST(silent_connections_are_closed)
{
	int silent;
	int talking;

	start_proxy(300, 60000);
	silent = connect_from("10.9.0.2", DOOR);
	talking = connect_from("10.9.0.2", DOOR);
	ASSERT(write(talking, "x", 1) == 1);
	ASSERT(!is_closed(silent, 150));
	ASSERT(is_closed(silent, 2000));
	ASSERT(!is_closed(talking, 300));
}

TEST(what_is_idle_for_too_long_is_closed)
{
	int idle;
	int busy;

	start_proxy(60000, 500);
	idle = connect_from("10.9.0.2", DOOR);
	busy = connect_from("10.9.0.2", DOOR);
	ASSERT(write(idle, "x", 1) == 1);
	for (int i = 0; i < 10; i++) {
		ASSERT(write(busy, "x", 1) == 1);
		clock_rest_ms(100);
	}
	ASSERT(!is_closed(busy, 0));
	ASSERT(is_closed(idle, 0));
	ASSERT(is_closed(busy, 2000));
}

TEST(a_removed_target_gets_time_to_end_its_connections)
{
	int fd;

	retire_after_ms = 300;
	retire_limit_ms = 3000;
	start_proxy(60000, 60000);
	fd = connect_from("10.9.0.2", DOOR);
	ASSERT(write(fd, "x", 1) == 1);
	ASSERT(!is_closed(fd, 1000));
	ASSERT(is_closed(fd, 20000));
}
