/*
 * DNS for the nodes.
 *
 *  1. Each UDP query gets its own socket, connected to the server, and a random id, so that answers
 *     are hard to forge.
 *  2. If a server does not answer within 2 s or cannot be reached, the next one is asked.  The
 * server that answered last is asked first from then on.
 *  3. TCP connections are forwarded (proxy.h), one complete query at a time.
 *  4. Without servers, every query is answered with NXDOMAIN.  With REFUSED or SERVFAIL, resolvers
 *     would retry for seconds, here and elsewhere.  NXDOMAIN is final, and CoreDNS caches it.
 */

#include "balancer/dns.h"

#include <string.h>
#include <sys/random.h>

#include "balancer/dns-stream.h"
#include "balancer/proxy.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "data/dns-packet.h"
#include "host/endpoint.h"

static const unsigned answer_limit_ms = 2000;
static const unsigned questions_most = 512;
static const unsigned streams_most = 64;
static const unsigned packets_most = 64; /* per event */
static const unsigned stream_limit_ms = 10000;

struct question {
	struct dns *dns;
	struct sockaddr_storage client;
	socklen_t client_len;
	struct origin origin;
	uint16_t client_id;
	size_t server; /* the server that is being asked */
	size_t asked;  /* the number of servers asked so far */
	int fd;
	struct loop_source *source;
	struct loop_source *timer;
	uint8_t *packet;
	size_t len;
	struct question *previous;
	struct question *next;
};

struct dns {
	struct door door;
	char *listen;
	int fd;
	struct loop_source *source;
	struct proxy *streams;        /* TCP, with servers */
	struct dns_stream *answering; /* TCP, without servers */
	struct strlist upstream;
	struct endpoint *servers;
	size_t server_count;
	size_t preferred;
	struct question *questions;
	struct tally *tally; /* counts UDP queries */
	struct tally *stream_tally;
};

static int ask_next(struct question *question, struct error *err);

struct dns *dns_new(const struct door *door)
{
	struct dns *dns = xcalloc(1, sizeof(*dns));

	dns->door = *door;
	dns->tally = tally_new(questions_most);
	dns->stream_tally = tally_new(streams_most);
	dns->fd = -1;
	return dns;
}

static void hang_up(struct question *question)
{
	if (question->timer)
		loop_remove(take_ptr(question->timer));
	if (question->source)
		loop_remove(take_ptr(question->source));
	if (question->fd >= 0)
		(void)close(take_fd(question->fd));
}

static void question_free(struct question *question)
{
	struct dns *dns = question->dns;

	hang_up(question);
	if (question->previous)
		question->previous->next = question->next;
	else
		dns->questions = question->next;
	if (question->next)
		question->next->previous = question->previous;
	tally_give_back(dns->tally, &question->origin);
	free(question->packet);
	free(question);
}

/* Send PACKET to the client.  Errors are ignored: clients ask again. */
static void reply(const struct question *question, uint8_t *packet, size_t len)
{
	if (len < 2)
		return;
	dns_set_id(packet, question->client_id);
	(void)sendto(question->dns->fd, packet, len, MSG_NOSIGNAL,
		     (const struct sockaddr *)&question->client, question->client_len);
}

static void reply_with(const struct question *question, enum dns_rcode rcode)
{
	uint8_t answer[1024];
	size_t len = dns_answer(question->packet, question->len, rcode, answer, sizeof(answer));

	reply(question, answer, len);
}

static int on_answer(int fd, arg_unused uint32_t events, void *data, struct error *err)
{
	static uint8_t packet[DNS_PACKET_MAX];
	struct question *question = data;

	for (;;) {
		ssize_t len = recv(fd, packet, sizeof(packet), 0);

		if (len < 0 && (errno == EAGAIN || errno == EINTR))
			return 0;
		/* The server's host reports that the port is closed. */
		if (len < 0)
			return ask_next(question, err);
		if (!dns_answers(question->packet, question->len, packet, (size_t)len))
			continue;
		question->dns->preferred = question->server;
		reply(question, packet, (size_t)len);
		question_free(question);
		return 0;
	}
}

static int on_no_answer(void *data, struct error *err)
{
	return ask_next(data, err);
}

/* Send the query to the current server; returns whether it was sent. */
static bool ask_server(struct question *question)
{
	struct dns *dns = question->dns;
	const struct endpoint *server = &dns->servers[question->server];
	uint16_t id;

	if (getrandom(&id, sizeof(id), 0) != sizeof(id))
		return false;
	dns_set_id(question->packet, id);
	if (endpoint_connect(server, SOCK_DGRAM, &question->fd) < 0 ||
	    send(question->fd, question->packet, question->len, MSG_NOSIGNAL) < 0)
		return false;
	return loop_add_fd(dns->door.loop, question->fd, EPOLLIN, on_answer, question,
			   &question->source, NULL) == 0 &&
	       loop_add_timer(dns->door.loop, answer_limit_ms, 0, on_no_answer, question,
			      &question->timer, NULL) == 0;
}

static int ask_next(struct question *question, arg_unused struct error *err)
{
	struct dns *dns = question->dns;

	while (question->asked < dns->server_count) {
		hang_up(question);
		question->server = (dns->preferred + question->asked) % dns->server_count;
		question->asked++;
		if (ask_server(question))
			return 0;
	}
	reply_with(question, DNS_SERVER_FAILURE);
	question_free(question);
	return 0;
}

static int take_question(struct dns *dns, const struct question *from, const uint8_t *packet,
			 size_t len, struct error *err)
{
	struct question *question = xcalloc(1, sizeof(*question));

	*question = *from;
	question->packet = xmalloc(len);
	memcpy(question->packet, packet, len);
	question->next = dns->questions;
	if (dns->questions)
		dns->questions->previous = question;
	dns->questions = question;
	return ask_next(question, err);
}

/* Handle the query PACKET.  FROM describes the client. */
static int on_query(struct question *from, uint8_t *packet, size_t len, struct error *err)
{
	struct dns *dns = from->dns;

	from->origin = origins_find(dns->door.origins, &from->client, NULL);
	if (len < 2 || !origins_trust(dns->door.origins, &from->origin))
		return 0;
	from->packet = packet;
	from->len = len;
	from->client_id = dns_id(packet);
	if (dns->server_count == 0)
		reply_with(from, DNS_NO_SUCH_NAME);
	else if (dns_question_end(packet, len) < 0 || !tally_take(dns->tally, &from->origin))
		reply_with(from, DNS_SERVER_FAILURE);
	else
		return take_question(dns, from, packet, len, err);
	return 0;
}

static int on_question(int fd, arg_unused uint32_t events, void *data, struct error *err)
{
	static uint8_t packet[DNS_PACKET_MAX];
	struct dns *dns = data;

	for (unsigned i = 0; i < packets_most; i++) {
		struct question from = { .dns = dns, .fd = -1 };
		ssize_t len;
		int r;

		from.client_len = sizeof(from.client);
		len = recvfrom(fd, packet, sizeof(packet), 0, (struct sockaddr *)&from.client,
			       &from.client_len);
		if (len < 0)
			return 0;
		r = on_query(&from, packet, (size_t)len, err);
		if (r < 0)
			return r;
	}
	return 0;
}

static ssize_t pass_queries(const struct strbuf *held)
{
	return dns_whole_queries((const uint8_t *)held->text, held->len);
}

/* For the proxy: the servers in turn, starting with the preferred one. */
static bool choose_server(arg_unused const unsigned *tried, unsigned tried_count,
			  struct proxy_target *ret, void *data)
{
	struct dns *dns = data;
	size_t index;

	if (tried_count >= dns->server_count)
		return false;
	index = (dns->preferred + tried_count) % dns->server_count;
	*ret = (struct proxy_target){ .endpoint = &dns->servers[index], .id = (unsigned)index + 1 };
	return true;
}

static void server_failed(arg_unused unsigned target, arg_unused void *data)
{
}

static void stop_listening(struct dns *dns)
{
	while (dns->questions)
		question_free(dns->questions);
	if (dns->source)
		loop_remove(take_ptr(dns->source));
	if (dns->fd >= 0)
		(void)close(take_fd(dns->fd));
	if (dns->streams)
		proxy_free(take_ptr(dns->streams));
	if (dns->answering)
		dns_stream_free(take_ptr(dns->answering));
	free(dns->listen);
	dns->listen = NULL;
}

static int start_listening(struct dns *dns, const char *listen, struct error *err)
{
	struct proxy_owner owner = { .choose = choose_server,
				     .failed = server_failed,
				     .filter = pass_queries,
				     .data = dns };
	struct proxy_limits limits = { .tally = dns->stream_tally,
				       .silent_ms = stream_limit_ms,
				       .idle_ms = stream_limit_ms,
				       .cluster_only = true };
	char *address = dns->listen = xstrdup(listen);
	int r;

	r = sockets_get(dns->door.sockets, SOCK_DGRAM, listen, &dns->fd, err);
	if (r < 0)
		return r;
	r = loop_add_fd(dns->door.loop, dns->fd, EPOLLIN, on_question, dns, &dns->source, err);
	if (r < 0)
		return r;
	if (dns->server_count == 0)
		return dns_stream_new(&dns->door, listen, dns->stream_tally, &dns->answering, err);
	dns->streams = proxy_new(&dns->door, &owner, &limits);
	return proxy_listen(dns->streams, &address, 1, err);
}

static int set_servers(struct dns *dns, const struct strlist *upstream, struct error *err)
{
	struct endpoint *servers = xcalloc(upstream->count + 1, sizeof(*servers));

	for (size_t i = 0; i < upstream->count; i++) {
		int r = endpoint_parse(upstream->items[i], &servers[i], err);

		if (r < 0) {
			free(servers);
			return r;
		}
	}
	free(dns->servers);
	dns->servers = servers;
	dns->server_count = upstream->count;
	dns->preferred = 0;
	strlist_release(&dns->upstream);
	if (upstream->count > 0)
		strlist_add_all(&dns->upstream, upstream->items);
	return 0;
}

static bool same_list(const struct strlist *a, const struct strlist *b)
{
	if (a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++)
		if (strcmp(a->items[i], b->items[i]) != 0)
			return false;
	return true;
}

int dns_set(struct dns *dns, const char *listen, const struct strlist *upstream, struct error *err)
{
	int r;

	if (same_list(&dns->upstream, upstream) &&
	    (listen && dns->listen ? strcmp(listen, dns->listen) == 0 : listen == dns->listen))
		return 0;
	stop_listening(dns);
	r = set_servers(dns, upstream, err);
	if (r == 0 && listen)
		r = start_listening(dns, listen, err);
	/* Do not stay half configured: a later attempt starts again. */
	if (r < 0)
		stop_listening(dns);
	return r;
}

void dns_free(struct dns *dns)
{
	stop_listening(dns);
	strlist_release(&dns->upstream);
	free(dns->servers);
	tally_free(dns->tally);
	tally_free(dns->stream_tally);
	free(dns);
}
