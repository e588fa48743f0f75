/* The network, services and processes of a VM, for the host. */

#include "agent/do.h"
#include "agent/net.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "agent/text.h"

/* route add|delete DESTINATION PREFIX GATEWAY */
static int do_route(char *const *words)
{
	struct in_addr destination;
	struct in_addr gateway;

	if (inet_pton(AF_INET, words[1], &destination) != 1 ||
	    inet_pton(AF_INET, words[3], &gateway) != 1)
		return EINVAL;
	return net_route(destination, (unsigned)number_of(words[2], 33), gateway,
			 strcmp(words[0], "delete") == 0);
}

/* Connect FD within TIMEOUT_MS; returns an errno. */
static int connect_within(int fd, const struct sockaddr *address, socklen_t len, int timeout_ms)
{
	struct pollfd ready = { .fd = fd, .events = POLLOUT };
	socklen_t size = sizeof(int);
	int problem = 0;

	if (fd < 0)
		return errno;
	if (connect(fd, address, len) == 0)
		return 0;
	if (errno != EINPROGRESS)
		return errno;
	if (poll(&ready, 1, timeout_ms) <= 0)
		return ETIMEDOUT;
	return getsockopt(fd, SOL_SOCKET, SO_ERROR, &problem, &size) < 0 ? errno : problem;
}

static int connect_port(struct in_addr address, const char *port, int timeout_ms, int *ret_fd)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
				  .sin_addr = address,
				  .sin_port = htons((uint16_t)number_of(port, 65535)) };

	*ret_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	return connect_within(*ret_fd, (struct sockaddr *)&to, sizeof(to), timeout_ms);
}

/* reach ADDRESS PORT TIMEOUT_MS */
static int do_reach(char *const *words)
{
	struct in_addr address;
	int fd;

	if (inet_pton(AF_INET, words[0], &address) != 1)
		return EINVAL;
	return connect_port(address, words[1], (int)number_of(words[2], 600000), &fd);
}

/* ask PLACE TIMEOUT_MS WORDS: an accepted connection proves nothing, only an answer does. */
static int do_ask(char *const *words)
{
	struct sockaddr_un path = { .sun_family = AF_UNIX };
	const struct in_addr loopback = { htonl(INADDR_LOOPBACK) };
	int timeout_ms = (int)number_of(words[1], 600000);
	struct pollfd ready = { .events = POLLIN };
	char byte;
	int r;

	if (*words[0] != '/') {
		r = connect_port(loopback, words[0], timeout_ms, &ready.fd);
	} else if (strlen(words[0]) >= sizeof(path.sun_path)) {
		return ENAMETOOLONG;
	} else {
		memcpy(path.sun_path, words[0], strlen(words[0]));
		ready.fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		r = connect_within(ready.fd, (struct sockaddr *)&path, sizeof(path), timeout_ms);
	}
	if (r)
		return r == EAGAIN ? ETIMEDOUT : r;
	if (send(ready.fd, words[2], strlen(words[2]), MSG_NOSIGNAL) < 0)
		return errno;
	if (poll(&ready, 1, timeout_ms) <= 0)
		return ETIMEDOUT;
	return recv(ready.fd, &byte, 1, 0) < 0 ? errno : 0;
}

/* signal NAME SIGNAL: prints the number of processes */
static int do_signal(char *const *words)
{
	DIR *dir = opendir("/proc");
	int signal = (int)number_of(words[1], 64);
	struct dirent *entry;
	unsigned count = 0;

	while (dir && (entry = readdir(dir))) {
		pid_t pid = (pid_t)number_of(entry->d_name, INT32_MAX);
		char path[64];
		char name[32];
		ssize_t len;

		if (pid <= 1)
			continue;
		(void)snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
		len = read_file(path, name, sizeof(name) - 1);
		if (len <= 1 || name[len - 1] != '\n')
			continue;
		name[len - 1] = '\0';
		if (strcmp(name, words[0]) == 0 && kill(pid, signal) == 0)
			count++;
	}
	(void)printf("%u\n", count);
	return 0;
}

const struct verb net_verbs[] = {
	{ "route", 4, do_route },   { "reach", 3, do_reach }, { "ask", 3, do_ask },
	{ "signal", 2, do_signal }, { NULL, 0, NULL },
};

static const struct verb *find(const struct verb *verbs, const char *name)
{
	for (; verbs->name; verbs++)
		if (strcmp(verbs->name, name) == 0)
			return verbs;
	return NULL;
}

int do_run(char *const *words)
{
	const struct verb *verb = NULL;
	int count = 0;

	if (words[0]) {
		verb = find(file_verbs, words[0]);
		if (!verb)
			verb = find(net_verbs, words[0]);
		while (words[1 + count])
			count++;
	}
	return verb && count >= verb->words ? verb->run(words + 1) : ENOSYS;
}
