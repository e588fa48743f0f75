/* Whether nodes are alive. */

#include "watch/pulse.h"

#include <string.h>
#include <sys/socket.h>

#include "base/alloc.h"
#include "base/clock.h"

#define HEALTH_PORT 10256

static const unsigned period_ms = 400;
static const int64_t patience_ms = 1000;

struct pulse {
	struct pulses *pulses;
	struct in_addr node;
	enum balance_pulse result;
	int fd;
	struct loop_source *source;
	int64_t began_ms;
	bool asked;
	bool wanted;
};

struct pulses {
	struct loop *loop;
	void (*changed)(void *data);
	void *data;
	struct pulse **all;
	size_t count;
	struct loop_source *timer;
};

static void end_probe(struct pulse *pulse)
{
	if (pulse->source)
		loop_remove(take_ptr(pulse->source));
	if (pulse->fd >= 0)
		(void)close(take_fd(pulse->fd));
}

static void conclude(struct pulse *pulse, enum balance_pulse result)
{
	bool changed = pulse->result != result;

	end_probe(pulse);
	pulse->result = result;
	if (changed)
		pulse->pulses->changed(pulse->pulses->data);
}

static int on_ready(int fd, uint32_t events, void *data, arg_unused struct error *err)
{
	static const char request[] = "GET /livez HTTP/1.0\r\n\r\n";
	struct pulse *pulse = data;
	char answer[8];
	ssize_t len;

	if (!pulse->asked) {
		if ((events & (EPOLLERR | EPOLLHUP)) ||
		    send(fd, request, sizeof(request) - 1, MSG_NOSIGNAL) < 0) {
			conclude(pulse, PULSE_DEAD);
			return 0;
		}
		pulse->asked = true;
		(void)loop_set_events(pulse->source, EPOLLIN, NULL);
		return 0;
	}
	len = recv(fd, answer, sizeof(answer), MSG_DONTWAIT);
	if (len < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	/* Any answer will do: the pods of a node may serve although its kube-proxy is behind. */
	conclude(pulse, len >= 5 && memcmp(answer, "HTTP/", 5) == 0 ? PULSE_ALIVE : PULSE_DEAD);
	return 0;
}

static void begin_probe(struct pulse *pulse)
{
	struct sockaddr_in name = { .sin_family = AF_INET,
				    .sin_port = htons(HEALTH_PORT),
				    .sin_addr = pulse->node };

	pulse->asked = false;
	pulse->began_ms = clock_now_ms();
	pulse->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (pulse->fd < 0)
		return;
	if ((connect(pulse->fd, (const struct sockaddr *)&name, sizeof(name)) < 0 &&
	     errno != EINPROGRESS) ||
	    loop_add_fd(pulse->pulses->loop, pulse->fd, EPOLLOUT, on_ready, pulse, &pulse->source,
			NULL) < 0)
		conclude(pulse, PULSE_DEAD);
}

static int on_tick(void *data, arg_unused struct error *err)
{
	struct pulses *pulses = data;
	int64_t now_ms = clock_now_ms();

	for (size_t i = 0; i < pulses->count; i++) {
		struct pulse *pulse = pulses->all[i];

		if (pulse->fd < 0)
			begin_probe(pulse);
		else if (now_ms - pulse->began_ms >= patience_ms)
			conclude(pulse, PULSE_DEAD);
	}
	return 0;
}

struct pulses *pulses_new(struct loop *loop, void (*changed)(void *data), void *data)
{
	struct pulses *pulses = xcalloc(1, sizeof(*pulses));

	*pulses = (struct pulses){ .loop = loop, .changed = changed, .data = data };
	return pulses;
}

static struct pulse *find_pulse(const struct pulses *pulses, struct in_addr node)
{
	for (size_t i = 0; i < pulses->count; i++)
		if (pulses->all[i]->node.s_addr == node.s_addr)
			return pulses->all[i];
	return NULL;
}

static void add_pulse(struct pulses *pulses, struct in_addr node)
{
	struct pulse *pulse = xcalloc(1, sizeof(*pulse));

	*pulse = (struct pulse){
		.pulses = pulses, .node = node, .result = PULSE_UNKNOWN, .fd = -1, .wanted = true
	};
	pulses->all = xrealloc(pulses->all, pulses->count + 1, sizeof(struct pulse *));
	pulses->all[pulses->count++] = pulse;
}

static void forget_unwanted(struct pulses *pulses)
{
	size_t kept = 0;

	for (size_t i = 0; i < pulses->count; i++) {
		struct pulse *pulse = pulses->all[i];

		if (pulse->wanted) {
			pulses->all[kept++] = pulse;
			continue;
		}
		end_probe(pulse);
		free(pulse);
	}
	pulses->count = kept;
}

void pulses_set(struct pulses *pulses, const struct in_addr *nodes, size_t count)
{
	for (size_t i = 0; i < pulses->count; i++)
		pulses->all[i]->wanted = false;
	for (size_t i = 0; i < count; i++) {
		struct pulse *pulse = find_pulse(pulses, nodes[i]);

		if (pulse)
			pulse->wanted = true;
		else
			add_pulse(pulses, nodes[i]);
	}
	forget_unwanted(pulses);
	if (pulses->count == 0 && pulses->timer)
		loop_remove(take_ptr(pulses->timer));
	else if (pulses->count > 0 && !pulses->timer)
		(void)loop_add_timer(pulses->loop, 1, period_ms, on_tick, pulses, &pulses->timer,
				     NULL);
}

enum balance_pulse pulses_get(const struct pulses *pulses, struct in_addr node)
{
	const struct pulse *pulse = find_pulse(pulses, node);

	return pulse ? pulse->result : PULSE_UNKNOWN;
}

void pulses_free(struct pulses *pulses)
{
	pulses_set(pulses, NULL, 0);
	free(pulses->all);
	free(pulses);
}
