/* Addresses with ports, and sockets on them. */

#include "host/endpoint.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/parse.h"

int endpoint_parse(const char *text, struct endpoint *ret, struct error *err)
{
	struct endpoint endpoint = { .len = 0 };
	struct sockaddr_in *in4 = (struct sockaddr_in *)&endpoint.address;
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&endpoint.address;
	const char *colon = strrchr(text, ':');
	cleanup_free char *host = NULL;
	unsigned long long port;
	size_t len;

	if (!colon || parse_number(colon + 1, 1, 65535, &port, NULL) < 0)
		return error_set(err, -EINVAL, "'%s' is not an address with a port", text);
	len = (size_t)(colon - text);
	if (len >= 2 && text[0] == '[' && text[len - 1] == ']') {
		host = xstrndup(text + 1, len - 2);
		in6->sin6_family = AF_INET6;
		in6->sin6_port = htons((uint16_t)port);
		endpoint.len = sizeof(*in6);
		if (inet_pton(AF_INET6, host, &in6->sin6_addr) != 1)
			return error_set(err, -EINVAL, "'%s' is not an address with a port", text);
	} else {
		host = xstrndup(text, len);
		in4->sin_family = AF_INET;
		in4->sin_port = htons((uint16_t)port);
		endpoint.len = sizeof(*in4);
		if (inet_pton(AF_INET, host, &in4->sin_addr) != 1)
			return error_set(err, -EINVAL, "'%s' is not an address with a port", text);
	}
	*ret = endpoint;
	return 0;
}

int endpoint_listen(const char *text, int type, int *ret_fd, struct error *err)
{
	struct endpoint endpoint;
	cleanup_fd int fd = -1;
	int one = 1;
	int r = endpoint_parse(text, &endpoint, err);

	if (r < 0)
		return r;
	fd = socket(endpoint.address.ss_family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return error_sys(err, "cannot make a socket");
	/* The bridge may get its address later.  The option also works on IPv6 sockets. */
	if (setsockopt(fd, IPPROTO_IP, IP_FREEBIND, &one, sizeof(one)) < 0)
		return error_sys(err, "cannot prepare a socket for '%s'", text);
	/* Connections of an earlier front door in TIME_WAIT must not block the address. */
	if (type == SOCK_STREAM && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) < 0)
		return error_sys(err, "cannot prepare a socket for '%s'", text);
	if (bind(fd, (struct sockaddr *)&endpoint.address, endpoint.len) < 0 ||
	    (type == SOCK_STREAM && listen(fd, 1024) < 0))
		return error_sys(err, "cannot listen on '%s'", text);
	*ret_fd = take_fd(fd);
	return 0;
}

int endpoint_connect(const struct endpoint *endpoint, int type, int *ret_fd)
{
	cleanup_fd int fd = socket(endpoint->address.ss_family, type | SOCK_CLOEXEC | SOCK_NONBLOCK,
				   0);
	int one = 1;

	if (fd < 0)
		return -errno;
	if (type == SOCK_STREAM)
		(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	if (connect(fd, (const struct sockaddr *)&endpoint->address, endpoint->len) < 0 &&
	    errno != EINPROGRESS)
		return -errno;
	*ret_fd = take_fd(fd);
	return 0;
}

void endpoint_prepare(int fd)
{
	int one = 1;
	int idle_seconds = 15;
	int interval_seconds = 5;
	int count = 3;

	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	(void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof(one));
	(void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_seconds, sizeof(idle_seconds));
	(void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval_seconds,
			 sizeof(interval_seconds));
	(void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof(count));
}

void endpoint_reset(int fd)
{
	struct linger now = { .l_onoff = 1, .l_linger = 0 };

	(void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
	(void)close(fd);
}
