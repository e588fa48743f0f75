/* Listening sockets by name. */

#include "balancer/sockets.h"

#include <fcntl.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "host/endpoint.h"

#define TCP "tcp "
#define UDP "udp "

static const int in_use_limit_ms = 500;
static const unsigned in_use_poll_ms = 10;

struct named_socket {
	char *name;
	int fd;
	bool told; /* sockets_for_each() has passed it to its callback */
	struct named_socket *next;
};

struct sockets {
	struct named_socket *first;
};

struct sockets *sockets_new(void)
{
	return xcalloc(1, sizeof(struct sockets));
}

static void socket_free(struct named_socket *socket)
{
	(void)close(socket->fd);
	free(socket->name);
	free(socket);
}

void sockets_free(struct sockets *sockets)
{
	static const struct strlist none = { NULL };

	sockets_keep(sockets, &none);
	free(sockets);
}

void sockets_list(const struct balancer_config *config, struct strlist *ret)
{
	const char *address;

	strlist_for_each(address, &config->listen)
		strlist_addf(ret, TCP "%s", address);
	for (size_t i = 0; i < config->forward_count; i++)
		strlist_addf(ret, TCP "%s", config->forwards[i].listen);
	if (config->dns_listen) {
		strlist_addf(ret, TCP "%s", config->dns_listen);
		strlist_addf(ret, UDP "%s", config->dns_listen);
	}
}

static struct named_socket *find_socket(const struct sockets *sockets, const char *name)
{
	for (struct named_socket *s = sockets->first; s; s = s->next)
		if (strcmp(s->name, name) == 0)
			return s;
	return NULL;
}

void sockets_keep(struct sockets *sockets, const struct strlist *names)
{
	struct named_socket **link = &sockets->first;

	while (*link) {
		struct named_socket *socket = *link;

		if (strlist_has(names, socket->name)) {
			link = &socket->next;
			continue;
		}
		*link = socket->next;
		socket_free(socket);
	}
}

void sockets_end(struct sockets *sockets, const struct strlist *names)
{
	for (struct named_socket *s = sockets->first; s; s = s->next)
		if (!strlist_has(names, s->name))
			(void)shutdown(s->fd, SHUT_RDWR);
	sockets_keep(sockets, names);
}

void sockets_put(struct sockets *sockets, const char *name, int fd)
{
	struct named_socket *socket = find_socket(sockets, name);

	if (socket) {
		(void)close(socket->fd);
		socket->fd = fd;
		return;
	}
	socket = xcalloc(1, sizeof(*socket));
	*socket = (struct named_socket){ .name = xstrdup(name), .fd = fd, .next = sockets->first };
	sockets->first = socket;
}

static int open_socket(struct sockets *sockets, const char *name, int64_t deadline_ms,
		       struct error *err)
{
	int type = strncmp(name, UDP, strlen(UDP)) == 0 ? SOCK_DGRAM : SOCK_STREAM;
	int fd;
	int r;

	while ((r = endpoint_listen(name + strlen(TCP), type, &fd, err)) == -EADDRINUSE &&
	       clock_poll(deadline_ms, in_use_poll_ms))
		error_clear(err);
	if (r == 0)
		sockets_put(sockets, name, fd);
	return r;
}

int sockets_open(struct sockets *sockets, const struct strlist *names, struct error *err)
{
	int64_t deadline_ms = clock_now_ms() + in_use_limit_ms;
	const char *name;
	int result = 0;

	strlist_for_each(name, names) {
		int r = 0;

		if (!find_socket(sockets, name))
			r = open_socket(sockets, name, deadline_ms, result == 0 ? err : NULL);
		result = result < 0 ? result : r;
	}
	return result;
}

int sockets_for_each(struct sockets *sockets, bool only_new, sockets_fn fn, void *data,
		     struct error *err)
{
	for (struct named_socket *s = sockets->first; s; s = s->next) {
		int r = s->told && only_new ? 0 : fn(s->name, s->fd, data, err);

		if (r < 0)
			return r;
		s->told = true;
	}
	return 0;
}

int sockets_get(const struct sockets *sockets, int type, const char *address, int *ret_fd,
		struct error *err)
{
	cleanup_free char *name = xasprintf("%s%s", type == SOCK_DGRAM ? UDP : TCP, address);
	const struct named_socket *socket = find_socket(sockets, name);
	int fd;

	if (!socket)
		return error_set(err, -ENOENT, "nothing listens on '%s'", address);
	fd = fcntl(socket->fd, F_DUPFD_CLOEXEC, 3);
	if (fd < 0)
		return error_sys(err, "cannot listen on '%s'", address);
	*ret_fd = fd;
	return 0;
}
