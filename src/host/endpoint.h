/* Addresses with ports, "10.89.0.1:6443" or "[fd00::1]:53", and sockets on them. */
#pragma once

#include <sys/socket.h>

#include "base/error.h"

struct endpoint {
	struct sockaddr_storage address;
	socklen_t len;
};

int endpoint_parse(const char *text, struct endpoint *ret, struct error *err);

/*
 * Make a non-blocking socket of TYPE (SOCK_STREAM, which then listens, or SOCK_DGRAM) on the
 * address TEXT.  The host need not have the address yet.  -EADDRINUSE if another program uses it.
 */
int endpoint_listen(const char *text, int type, int *ret_fd, struct error *err);

/* Start connecting a new non-blocking socket of TYPE;
 * a negative errno if that fails immediately. */
int endpoint_connect(const struct endpoint *endpoint, int type, int *ret_fd);

/* Have FD, a TCP socket, send without delay and enable keepalive: a node that vanished is detected
 * within half a minute. */
void endpoint_prepare(int fd);

/* Close FD with a TCP reset, so that the peer sees a failure. */
void endpoint_reset(int fd);
