/* Forwarding TCP connections. */

#include "balancer/proxy.h"

#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"

#define TRIED_MAX   254
#define CHUNK_BYTES 65536

static const unsigned connect_limit_ms = 1000;
static const unsigned accept_most = 64;
static const unsigned chunks_most = 16; /* per event, so that one connection can't starve others */
static const unsigned sweep_least_ms = 50;
static const unsigned sweep_most_ms = 1000;
static const unsigned half_ended_ms = 10 * 60 * 1000; /* one side has ended, the other is silent */

struct listener {
	struct proxy *proxy;
	char *address;
	int fd;
	struct loop_source *source;
	bool paused; /* until descriptors are available again */
	struct listener *next;
};

struct side {
	struct connection *connection;
	struct side *other;
	int fd;
	struct loop_source *source; /* NULL while no event is awaited */
	uint32_t events;
	bool ended;            /* the peer sends no more data */
	bool told;             /* the peer was told that no more data follows */
	struct strbuf pending; /* data that the peer has not accepted yet */
};

struct connection {
	struct proxy *proxy;
	struct side client;
	struct side server;
	struct loop_source *timer; /* while connecting */
	struct origin origin;
	struct strbuf held; /* data of the client that the owner's filter holds back */
	int64_t active_ms;  /* the time of the last byte, or of the connection */
	int64_t heard_ms;   /* the time of the server's last byte; 0: none yet */
	int64_t retired_ms; /* when it is reset at the latest; 0: never */
	bool said;          /* at least one byte was received */
	unsigned target;
	unsigned tried[TRIED_MAX];
	unsigned tried_count;
	struct connection *previous;
	struct connection *next;
};

struct proxy {
	struct door door;
	struct proxy_owner owner;
	struct proxy_limits limits;
	struct listener *listeners;
	struct connection *connections;
	struct loop_source *sweeper; /* while there are connections or paused listeners */
};

static int try_next(struct connection *connection, struct error *err);

struct proxy *proxy_new(const struct door *door, const struct proxy_owner *owner,
			const struct proxy_limits *limits)
{
	struct proxy *proxy = xcalloc(1, sizeof(*proxy));

	*proxy = (struct proxy){
		.door = *door,
		.owner = *owner,
		.limits = *limits,
	};
	return proxy;
}

static void side_close(struct side *side, bool orderly)
{
	if (side->source)
		loop_remove(take_ptr(side->source));
	if (side->fd >= 0 && orderly)
		(void)close(side->fd);
	else if (side->fd >= 0)
		endpoint_reset(side->fd);
	side->fd = -1;
	strbuf_release(&side->pending);
}

static void connection_free(struct connection *connection, bool orderly)
{
	struct proxy *proxy = connection->proxy;

	side_close(&connection->client, orderly);
	side_close(&connection->server, orderly);
	if (connection->timer)
		loop_remove(connection->timer);
	if (connection->previous)
		connection->previous->next = connection->next;
	else
		proxy->connections = connection->next;
	if (connection->next)
		connection->next->previous = connection->previous;
	tally_give_back(proxy->limits.tally, &connection->origin);
	strbuf_release(&connection->held);
	free(connection);
}

static int on_side(int fd, uint32_t events, void *data, struct error *err);

/*
 * Wait for EVENTS on SIDE.  Without events the source is removed, because epoll would report a
 * hang-up again and again.
 */
static int await_events(struct side *side, uint32_t events, struct error *err)
{
	int r = 0;

	if (side->source && events == side->events)
		return 0;
	if (events == 0) {
		if (side->source)
			loop_remove(take_ptr(side->source));
	} else if (side->source) {
		r = loop_set_events(side->source, events, err);
	} else {
		r = loop_add_fd(side->connection->proxy->door.loop, side->fd, events, on_side, side,
				&side->source, err);
	}
	side->events = events;
	return r;
}

/* Send LEN bytes to SIDE; bytes that it does not accept are kept.  Returns a negative errno if the
 * connection is broken. */
static int give(struct side *side, const char *data, size_t len)
{
	ssize_t written = 0;

	if (side->pending.len == 0)
		written = send(side->fd, data, len, MSG_NOSIGNAL);
	if (written < 0 && errno != EAGAIN && errno != EINTR)
		return -errno;
	if (written < 0)
		written = 0;
	if ((size_t)written < len)
		strbuf_add_mem(&side->pending, data + written, len - (size_t)written);
	return 0;
}

static int flush(struct side *side)
{
	while (side->pending.len > 0) {
		ssize_t written = send(side->fd, side->pending.text, side->pending.len,
				       MSG_NOSIGNAL);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return errno == EAGAIN ? 0 : -errno;
		strbuf_drop_front(&side->pending, (size_t)written);
	}
	strbuf_release(&side->pending);
	return 0;
}

/* Send the server those of the client's bytes that the owner's filter passes. */
static int give_filtered(struct connection *connection, const char *data, size_t len)
{
	struct strbuf *held = &connection->held;
	ssize_t passing;
	int r;

	strbuf_add_mem(held, data, len);
	passing = connection->proxy->owner.filter(held);
	if (passing < 0)
		return -EBADMSG;
	r = give(&connection->server, held->text, (size_t)passing);
	strbuf_drop_front(held, (size_t)passing);
	return r;
}

/* Copy data from FROM to the other side, as long as that accepts it. */
static int carry(struct side *from)
{
	static char chunk[CHUNK_BYTES];
	struct connection *connection = from->connection;
	bool filtered = from == &connection->client && connection->proxy->owner.filter;

	for (unsigned i = 0; i < chunks_most && !from->ended && from->other->pending.len == 0;
	     i++) {
		ssize_t len = recv(from->fd, chunk, sizeof(chunk), 0);
		int r;

		if (len < 0 && errno == EINTR)
			continue;
		if (len < 0)
			return errno == EAGAIN ? 0 : -errno;
		from->ended = len == 0;
		connection->active_ms = clock_now_ms();
		connection->said = connection->said || len > 0;
		if (from == &connection->server && len > 0)
			connection->heard_ms = connection->active_ms;
		r = filtered ? give_filtered(connection, chunk, (size_t)len)
			     : give(from->other, chunk, (size_t)len);
		if (r < 0)
			return r;
		if ((size_t)len < sizeof(chunk))
			break;
	}
	return 0;
}

/* If the other side has ended, shut down SIDE once all data is sent. */
static void pass_end(struct side *side)
{
	if (!side->other->ended || side->told || side->pending.len > 0)
		return;
	(void)shutdown(side->fd, SHUT_WR);
	side->told = true;
}

static int settle(struct connection *connection, struct error *err)
{
	struct side *sides[] = { &connection->client, &connection->server };
	int r = 0;

	pass_end(sides[0]);
	pass_end(sides[1]);
	if (sides[0]->told && sides[1]->told) {
		connection_free(connection, true);
		return 0;
	}
	for (int i = 0; i < 2 && r == 0; i++) {
		struct side *side = sides[i];
		uint32_t events = 0;

		if (!side->ended && side->other->pending.len == 0)
			events |= EPOLLIN;
		if (side->pending.len > 0)
			events |= EPOLLOUT;
		r = await_events(side, events, err);
	}
	return r;
}

static int on_side(arg_unused int fd, uint32_t events, void *data, struct error *err)
{
	struct side *side = data;
	struct connection *connection = side->connection;
	int r = 0;

	if (events & EPOLLOUT)
		r = flush(side);
	if (r == 0 && (events & (EPOLLIN | EPOLLHUP | EPOLLERR)))
		r = carry(side);
	if (r < 0 || (events & EPOLLERR)) {
		connection_free(connection, false);
		return 0;
	}
	return settle(connection, err);
}

static int on_connect_limit(void *data, struct error *err)
{
	struct connection *connection = data;
	struct proxy *proxy = connection->proxy;

	side_close(&connection->server, false);
	proxy->owner.failed(connection->target, proxy->owner.data);
	return try_next(connection, err);
}

static int on_server_connected(int fd, arg_unused uint32_t events, void *data, struct error *err)
{
	struct connection *connection = data;
	struct proxy *proxy = connection->proxy;
	int problem = 0;
	socklen_t len = sizeof(problem);

	(void)getsockopt(fd, SOL_SOCKET, SO_ERROR, &problem, &len);
	if (problem) {
		side_close(&connection->server, false);
		proxy->owner.failed(connection->target, proxy->owner.data);
		return try_next(connection, err);
	}
	loop_remove(take_ptr(connection->server.source));
	loop_remove(take_ptr(connection->timer));
	endpoint_prepare(fd);
	return settle(connection, err);
}

/* Connect to the next target; reset the client if there is none. */
static int try_next(struct connection *connection, struct error *err)
{
	struct proxy *proxy = connection->proxy;
	struct proxy_target target;

	if (connection->timer)
		loop_remove(take_ptr(connection->timer));
	while (connection->tried_count < TRIED_MAX &&
	       proxy->owner.choose(connection->tried, connection->tried_count, &target,
				   proxy->owner.data)) {
		connection->tried[connection->tried_count++] = target.id;
		connection->target = target.id;
		if (endpoint_connect(target.endpoint, SOCK_STREAM, &connection->server.fd) < 0) {
			proxy->owner.failed(target.id, proxy->owner.data);
			continue;
		}
		if (loop_add_fd(proxy->door.loop, connection->server.fd, EPOLLOUT,
				on_server_connected, connection, &connection->server.source,
				err) < 0)
			break;
		return loop_add_timer(proxy->door.loop, connect_limit_ms, 0, on_connect_limit,
				      connection, &connection->timer, err);
	}
	error_clear(err);
	connection_free(connection, false);
	return 0;
}

static bool is_overdue(const struct connection *connection, int64_t now_ms)
{
	const struct proxy_limits *limits = &connection->proxy->limits;
	int64_t limit_ms = limits->idle_ms;

	if (connection->retired_ms && now_ms >= connection->retired_ms)
		return true;
	if (!connection->said)
		limit_ms = limits->silent_ms;
	else if (connection->client.ended || connection->server.ended)
		limit_ms = MIN(limits->idle_ms, half_ended_ms);
	return now_ms - connection->active_ms >= limit_ms;
}

/* Reset overdue connections, and resume paused listeners. */
static int sweep(void *data, arg_unused struct error *err)
{
	struct proxy *proxy = data;
	int64_t now_ms = clock_now_ms();
	struct connection *next;
	bool paused = false;

	for (struct connection *c = proxy->connections; c; c = next) {
		next = c->next;
		if (is_overdue(c, now_ms))
			connection_free(c, false);
	}
	for (struct listener *l = proxy->listeners; l; l = l->next) {
		if (l->paused && loop_set_events(l->source, EPOLLIN, NULL) == 0)
			l->paused = false;
		paused = paused || l->paused;
	}
	if (!proxy->connections && !paused)
		loop_remove(take_ptr(proxy->sweeper));
	return 0;
}

static int sweep_from_now_on(struct proxy *proxy, struct error *err)
{
	unsigned period_ms = MIN(proxy->limits.silent_ms, proxy->limits.idle_ms) / 4;

	if (proxy->sweeper)
		return 0;
	period_ms = MIN(period_ms, sweep_most_ms);
	period_ms = MAX(period_ms, sweep_least_ms);
	return loop_add_timer(proxy->door.loop, period_ms, period_ms, sweep, proxy, &proxy->sweeper,
			      err);
}

/* Whether the client FROM may connect.  If so, the connection is counted for *RET. */
static bool may_enter(const struct proxy *proxy, int fd, const struct sockaddr_storage *from,
		      struct origin *ret)
{
	struct sockaddr_storage at;
	socklen_t len = sizeof(at);

	if (getsockname(fd, (struct sockaddr *)&at, &len) < 0)
		return false;
	*ret = origins_find(proxy->door.origins, from, &at);
	return (!proxy->limits.cluster_only || origins_trust(proxy->door.origins, ret)) &&
	       tally_take(proxy->limits.tally, ret);
}

static int take_client(struct proxy *proxy, int fd, const struct sockaddr_storage *from,
		       struct error *err)
{
	struct connection *connection;
	struct origin origin;

	if (!may_enter(proxy, fd, from, &origin)) {
		endpoint_reset(fd);
		return 0;
	}
	endpoint_prepare(fd);
	connection = xcalloc(1, sizeof(*connection));
	*connection = (struct connection){
		.proxy = proxy,
		.client = { .connection = connection,
			    .other = &connection->server,
			    .fd = fd,
			    .pending = STRBUF_INIT },
		.server = { .connection = connection,
			    .other = &connection->client,
			    .fd = -1,
			    .pending = STRBUF_INIT },
		.origin = origin,
		.held = STRBUF_INIT,
		.active_ms = clock_now_ms(),
		.next = proxy->connections,
	};
	if (proxy->connections)
		proxy->connections->previous = connection;
	proxy->connections = connection;
	if (sweep_from_now_on(proxy, NULL) < 0) {
		connection_free(connection, false);
		return 0;
	}
	return try_next(connection, err);
}

/* Pause LISTENER when there are no descriptors: epoll would report the same connection again and
 * again. */
static void pause_listener(struct listener *listener)
{
	if (sweep_from_now_on(listener->proxy, NULL) < 0)
		return;
	listener->paused = loop_set_events(listener->source, 0, NULL) == 0;
}

static int on_client(int fd, arg_unused uint32_t events, void *data, struct error *err)
{
	struct listener *listener = data;

	for (unsigned i = 0; i < accept_most; i++) {
		struct sockaddr_storage from;
		socklen_t len = sizeof(from);
		int client = accept4(fd, (struct sockaddr *)&from, &len,
				     SOCK_CLOEXEC | SOCK_NONBLOCK);
		int r;

		if (client < 0) {
			if (errno == EMFILE || errno == ENFILE || errno == ENOMEM)
				pause_listener(listener);
			return 0;
		}
		r = take_client(listener->proxy, client, &from, err);
		if (r < 0)
			return r;
	}
	return 0;
}

static void listener_free(struct listener *listener)
{
	if (listener->source)
		loop_remove(listener->source);
	if (listener->fd >= 0)
		(void)close(listener->fd);
	free(listener->address);
	free(listener);
}

static bool has_listener(const struct proxy *proxy, const char *address)
{
	for (const struct listener *l = proxy->listeners; l; l = l->next)
		if (strcmp(l->address, address) == 0)
			return true;
	return false;
}

static int add_listener(struct proxy *proxy, const char *address, struct error *err)
{
	struct listener *listener = xcalloc(1, sizeof(*listener));
	int r;

	*listener = (struct listener){ .proxy = proxy, .address = xstrdup(address), .fd = -1 };
	r = sockets_get(proxy->door.sockets, SOCK_STREAM, address, &listener->fd, err);
	if (r == 0)
		r = loop_add_fd(proxy->door.loop, listener->fd, EPOLLIN, on_client, listener,
				&listener->source, err);
	if (r < 0) {
		listener_free(listener);
		return r;
	}
	listener->next = proxy->listeners;
	proxy->listeners = listener;
	return 0;
}

static bool is_among(const char *address, char *const *addresses, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(address, addresses[i]) == 0)
			return true;
	return false;
}

int proxy_listen(struct proxy *proxy, char *const *addresses, size_t count, struct error *err)
{
	struct listener **link = &proxy->listeners;
	int result = 0;

	while (*link) {
		struct listener *listener = *link;

		if (is_among(listener->address, addresses, count)) {
			link = &listener->next;
			continue;
		}
		*link = listener->next;
		listener_free(listener);
	}
	for (size_t i = 0; i < count; i++) {
		int r = 0;

		if (!has_listener(proxy, addresses[i]))
			r = add_listener(proxy, addresses[i], result == 0 ? err : NULL);
		if (r < 0 && result == 0)
			result = r;
	}
	return result;
}

void proxy_retire(struct proxy *proxy, unsigned target, unsigned limit_ms)
{
	for (struct connection *c = proxy->connections; c; c = c->next)
		if (c->target == target)
			c->retired_ms = clock_now_ms() + limit_ms;
}

int64_t proxy_heard_ms(const struct proxy *proxy, unsigned target)
{
	int64_t heard_ms = 0;

	for (const struct connection *c = proxy->connections; c; c = c->next)
		if (c->target == target)
			heard_ms = MAX(heard_ms, c->heard_ms);
	return heard_ms;
}

void proxy_drop(struct proxy *proxy, unsigned target)
{
	struct connection *next;

	for (struct connection *c = proxy->connections; c; c = next) {
		next = c->next;
		/* A connection that is not established yet tries another target itself. */
		if (c->target == target && !c->timer)
			connection_free(c, false);
	}
}

void proxy_withdraw(struct proxy *proxy, unsigned target)
{
	struct connection *next;

	proxy_drop(proxy, target);
	for (struct connection *c = proxy->connections; c; c = next) {
		next = c->next;
		if (c->target != target)
			continue;
		side_close(&c->server, false);
		(void)try_next(c, NULL);
	}
}

void proxy_free(struct proxy *proxy)
{
	while (proxy->listeners) {
		struct listener *listener = proxy->listeners;

		proxy->listeners = listener->next;
		listener_free(listener);
	}
	while (proxy->connections)
		connection_free(proxy->connections, false);
	if (proxy->sweeper)
		loop_remove(proxy->sweeper);
	free(proxy);
}
