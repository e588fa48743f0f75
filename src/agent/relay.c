/*
 * Forwarding TCP connections from a port of 127.0.0.1.
 *
 * In nodes, the cluster's registry is at localhost, too, so that images have the same names there
 * as on the host.  One process accepts connections, and a child of it copies the data of each.
 */

#include "agent/relay.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/text.h"

#define CONNECTIONS_MOST 64

static const int idle_ms = 10 * 60 * 1000;

/* One direction of a connection.  A descriptor is non-blocking, so that neither direction waits
 * for the other. */
struct flow {
	int from;
	int to;
	size_t begin; /* what waits for TO is buf[begin] to buf[end - 1] */
	size_t end;
	bool ended;  /* FROM has no more data */
	bool passed; /* and TO was told */
	char buf[32768];
};

static bool would_block(void)
{
	return errno == EAGAIN || errno == EINTR;
}

/* Move what is possible without waiting; false if the connection failed. */
static bool advance_flow(struct flow *flow)
{
	ssize_t len;

	if (flow->begin == flow->end && !flow->ended) {
		len = read(flow->from, flow->buf, sizeof(flow->buf));
		if (len < 0 && !would_block())
			return false;
		flow->ended = len == 0;
		flow->begin = 0;
		flow->end = len > 0 ? (size_t)len : 0;
	}
	if (flow->begin < flow->end) {
		len = send(flow->to, flow->buf + flow->begin, flow->end - flow->begin,
			   MSG_NOSIGNAL);
		if (len < 0 && !would_block())
			return false;
		flow->begin += len > 0 ? (size_t)len : 0;
	}
	if (flow->ended && flow->begin == flow->end && !flow->passed) {
		(void)shutdown(flow->to, SHUT_WR);
		flow->passed = true;
	}
	return true;
}

/* Add what FLOW waits for to POLLS: those of its `from` and its `to` or, if SWAPPED, the reverse.
 */
static void await_flow(const struct flow *flow, struct pollfd polls[2], bool swapped)
{
	if (flow->begin < flow->end)
		polls[!swapped].events |= POLLOUT;
	else if (!flow->ended)
		polls[swapped].events |= POLLIN;
}

static void copy_both_ways(int client, int server)
{
	static struct flow there;
	static struct flow back;

	there.from = back.to = client;
	there.to = back.from = server;
	while (!there.passed || !back.passed) {
		struct pollfd polls[2] = { { .fd = client }, { .fd = server } };
		int n;

		await_flow(&there, polls, false);
		await_flow(&back, polls, true);
		n = poll(polls, 2, idle_ms);
		if (n == 0 || (n < 0 && errno != EINTR))
			return;
		if (!advance_flow(&there) || !advance_flow(&back))
			return;
		/* Both ends are gone, and nothing is left to wait for. */
		if ((polls[0].revents & POLLERR) || (polls[1].revents & POLLERR))
			return;
	}
}

static _Noreturn void serve(int client, const struct sockaddr_in *to)
{
	int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int on = 1;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (server < 0 || connect(server, (const struct sockaddr *)to, sizeof(*to)) < 0) {
		struct linger reset = { .l_onoff = 1 };

		/* The client must not take this for an empty answer. */
		(void)setsockopt(client, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
		_exit(1);
	}
	(void)setsockopt(client, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	(void)setsockopt(server, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	(void)fcntl(client, F_SETFL, O_NONBLOCK);
	(void)fcntl(server, F_SETFL, O_NONBLOCK);
	copy_both_ways(client, server);
	_exit(0);
}

static int open_listener(const struct sockaddr_in *at)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int on = 1;

	if (fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == 0 &&
	    bind(fd, (const struct sockaddr *)at, sizeof(*at)) == 0 && listen(fd, SOMAXCONN) == 0)
		return fd;
	say("cannot listen: ", strerror(errno), NULL);
	return -1;
}

static void accept_forever(int listener, const struct sockaddr_in *to)
{
	unsigned children = 0;

	for (;;) {
		int client = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
		pid_t pid = client < 0 ? -1 : fork();

		if (pid == 0) {
			(void)close(listener);
			serve(client, to);
		}
		if (client >= 0)
			(void)close(client);
		children += pid > 0;
		/* Others wait in the queue meanwhile. */
		while (children > 0 &&
		       waitpid(-1, NULL, children < CONNECTIONS_MOST ? WNOHANG : 0) > 0)
			children--;
		if (client < 0 && errno != EINTR && errno != ECONNABORTED)
			(void)poll(NULL, 0, 100);
	}
}

/* WORD as the number of a port; 0 if it is none. */
static unsigned parse_port(const char *word)
{
	unsigned port = 0;

	for (; *word >= '0' && *word <= '9' && port <= 65535; word++)
		port = port * 10 + (unsigned)(*word - '0');
	return *word || port > 65535 ? 0 : port;
}

int relay_run(char *const *argv)
{
	struct sockaddr_in at = { .sin_family = AF_INET };
	struct sockaddr_in to = { .sin_family = AF_INET };
	unsigned port = argv[0] ? parse_port(argv[0]) : 0;
	int listener;

	if (port == 0 || !argv[1] || inet_pton(AF_INET, argv[1], &to.sin_addr) != 1) {
		say("usage: manykube-agent relay PORT ADDRESS", NULL);
		return EXIT_FAILURE;
	}
	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	at.sin_port = to.sin_port = htons((uint16_t)port);
	/* The host finds it by this name, which that of the agent must not be. */
	(void)prctl(PR_SET_NAME, RELAY_NAME);
	listener = open_listener(&at);
	if (listener < 0)
		return EXIT_FAILURE;
	accept_forever(listener, &to);
	return EXIT_SUCCESS;
}
