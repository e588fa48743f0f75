/* DNS over TCP for a cluster without servers. */

#include "balancer/dns-stream.h"

#include <sys/socket.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/strbuf.h"
#include "data/dns-packet.h"

/* The lifetime of a connection; clients can connect again. */
static const unsigned client_limit_ms = 10000;

struct client {
	struct dns_stream *stream;
	int fd;
	struct loop_source *source;
	struct loop_source *timer;
	struct origin origin;
	struct strbuf received;
	struct client *previous;
	struct client *next;
};

struct dns_stream {
	struct door door;
	int fd;
	struct loop_source *source;
	struct client *clients;
	struct tally *tally;
};

static void client_free(struct client *client)
{
	if (client->timer)
		loop_remove(client->timer);
	if (client->source)
		loop_remove(client->source);
	(void)close(client->fd);
	if (client->previous)
		client->previous->next = client->next;
	else
		client->stream->clients = client->next;
	if (client->next)
		client->next->previous = client->previous;
	tally_give_back(client->stream->tally, &client->origin);
	strbuf_release(&client->received);
	free(client);
}

/* Answer all complete queries; false if the client must be disconnected. */
static bool answer_all(struct client *client)
{
	struct strbuf *received = &client->received;

	while (received->len >= 2) {
		const uint8_t *bytes = (const uint8_t *)received->text;
		size_t len = (size_t)(bytes[0] << 8 | bytes[1]);
		uint8_t answer[2 + 1024];
		size_t answer_len;

		if (len > DNS_QUERY_MAX)
			return false;
		if (received->len - 2 < len)
			return true;
		answer_len = dns_answer(bytes + 2, len, DNS_NO_SUCH_NAME, answer + 2,
					sizeof(answer) - 2);
		if (answer_len == 0)
			return false;
		answer[0] = (uint8_t)(answer_len >> 8);
		answer[1] = (uint8_t)answer_len;
		answer_len += 2;
		/* Disconnect clients that do not read their answers. */
		if (send(client->fd, answer, answer_len, MSG_NOSIGNAL) != (ssize_t)answer_len)
			return false;
		strbuf_drop_front(received, 2 + len);
	}
	return true;
}

static int on_bytes(int fd, arg_unused uint32_t events, void *data, arg_unused struct error *err)
{
	struct client *client = data;
	ssize_t len = recv(fd, strbuf_grow(&client->received, 4096), 4096, 0);

	if (len < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (len > 0)
		strbuf_grown(&client->received, (size_t)len);
	if (len <= 0 || !answer_all(client))
		client_free(client);
	return 0;
}

static int on_idle(void *data, arg_unused struct error *err)
{
	client_free(data);
	return 0;
}

static int on_client(int fd, arg_unused uint32_t events, void *data, arg_unused struct error *err)
{
	struct dns_stream *stream = data;
	struct sockaddr_storage from;
	socklen_t len = sizeof(from);
	int client_fd = accept4(fd, (struct sockaddr *)&from, &len, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct origin origin;
	struct client *client;

	if (client_fd < 0)
		return 0;
	origin = origins_find(stream->door.origins, &from, NULL);
	if (!origins_trust(stream->door.origins, &origin) || !tally_take(stream->tally, &origin)) {
		(void)close(client_fd);
		return 0;
	}
	client = xcalloc(1, sizeof(*client));
	*client = (struct client){ .stream = stream,
				   .fd = client_fd,
				   .origin = origin,
				   .received = STRBUF_INIT,
				   .next = stream->clients };
	if (stream->clients)
		stream->clients->previous = client;
	stream->clients = client;
	if (loop_add_fd(stream->door.loop, client_fd, EPOLLIN, on_bytes, client, &client->source,
			NULL) < 0 ||
	    loop_add_timer(stream->door.loop, client_limit_ms, 0, on_idle, client, &client->timer,
			   NULL) < 0)
		client_free(client);
	return 0;
}

int dns_stream_new(const struct door *door, const char *address, struct tally *tally,
		   struct dns_stream **ret_stream, struct error *err)
{
	cleanup_with(dns_stream_freep) struct dns_stream *stream = xcalloc(1, sizeof(*stream));
	int r;

	stream->door = *door;
	stream->tally = tally;
	stream->fd = -1;
	r = sockets_get(door->sockets, SOCK_STREAM, address, &stream->fd, err);
	if (r < 0)
		return r;
	r = loop_add_fd(door->loop, stream->fd, EPOLLIN, on_client, stream, &stream->source, err);
	if (r < 0)
		return r;
	*ret_stream = take_ptr(stream);
	return 0;
}

void dns_stream_free(struct dns_stream *stream)
{
	while (stream->clients)
		client_free(stream->clients);
	if (stream->source)
		loop_remove(stream->source);
	if (stream->fd >= 0)
		(void)close(stream->fd);
	free(stream);
}
