/* Whether programs that listen still answer. */

#include "api/listeners.h"

#include <arpa/inet.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "data/inet.h"

/* Start to connect to ADDRESS; returns -1 if that fails at once. */
static int begin_connection(const char *address, uint16_t port)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(port) };
	cleanup_fd int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0 || inet_parse_address(address, &to.sin_addr, NULL) < 0)
		return -1;
	if (connect(fd, (const struct sockaddr *)&to, sizeof(to)) < 0 && errno != EINPROGRESS)
		return -1;
	return take_fd(fd);
}

/* Handle what poll() reports of WAIT; a connection without a future is closed. */
static void advance_connection(struct pollfd *wait, const char *words, bool *silent)
{
	if (wait->revents == POLLOUT &&
	    send(wait->fd, words, strlen(words), MSG_NOSIGNAL) == (ssize_t)strlen(words)) {
		wait->events = POLLIN;
		*silent = true;
	} else if (wait->revents) {
		/* An answer, even a refusal, comes from a program that runs. */
		*silent = false;
		(void)close(take_fd(wait->fd));
	}
}

static bool any_open(const struct pollfd *waits, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (waits[i].fd >= 0)
			return true;
	return false;
}

void listeners_find_silent(const struct strlist *addresses, uint16_t port, const char *words,
			   int timeout_ms, bool *ret_silent)
{
	size_t count = addresses->count;
	cleanup_free struct pollfd *waits = xcalloc(count + 1, sizeof(*waits));
	int64_t deadline_ms = clock_now_ms() + timeout_ms;

	for (size_t i = 0; i < count; i++) {
		int fd = begin_connection(addresses->items[i], port);

		ret_silent[i] = false;
		waits[i] = (struct pollfd){ .fd = fd, .events = POLLOUT };
	}
	while (any_open(waits, count) && clock_left_ms(deadline_ms) > 0) {
		if (poll(waits, count, clock_left_ms(deadline_ms)) <= 0)
			continue;
		for (size_t i = 0; i < count; i++)
			if (waits[i].fd >= 0)
				advance_connection(&waits[i], words, &ret_silent[i]);
	}
	for (size_t i = 0; i < count; i++)
		if (waits[i].fd >= 0)
			(void)close(waits[i].fd);
}
