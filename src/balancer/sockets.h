/*
 * Listening sockets by name: "tcp 10.89.0.1:6443", "udp 10.89.0.1:53".
 *
 * The keeper opens them, which may need privileges, and keeps them open; the worker holds the ones
 * it was sent.  Connections that arrive while a worker is being replaced wait for the next one.
 */
#pragma once

#include "balancer/balancer.h"
#include "base/cleanup.h"

struct sockets;

struct sockets *sockets_new(void);
void sockets_free(struct sockets *sockets); /* closes all sockets */
DEFINE_CLEANUP(struct sockets *, sockets_free)

/* Add the names of the sockets that CONFIG needs to RET. */
void sockets_list(const struct balancer_config *config, struct strlist *ret);

/* Open the missing sockets of NAMES.  If one fails, continues with the others and returns the first
 * error.  An address in use is retried for a moment, because its owner may be ending. */
int sockets_open(struct sockets *sockets, const struct strlist *names, struct error *err);

/* Close all sockets except NAMES. */
void sockets_keep(struct sockets *sockets, const struct strlist *names);

/* Like sockets_keep(), and nobody else who has descriptors of the closed sockets listens on their
 * ports any more: they can be opened again at once, at other addresses. */
void sockets_end(struct sockets *sockets, const struct strlist *names);

/* Store FD as NAME, taking ownership of it. */
void sockets_put(struct sockets *sockets, const char *name, int fd);

/* Call FN for all sockets or, if ONLY_NEW, for those for which it was not called yet, until it
 * fails. */
typedef int (*sockets_fn)(const char *name, int fd, void *data, struct error *err);
int sockets_for_each(struct sockets *sockets, bool only_new, sockets_fn fn, void *data,
		     struct error *err);

/* Duplicate the socket of TYPE (SOCK_STREAM, SOCK_DGRAM) on ADDRESS; the caller owns the
 * descriptor. -ENOENT if there is none. */
int sockets_get(const struct sockets *sockets, int type, const char *address, int *ret_fd,
		struct error *err);
