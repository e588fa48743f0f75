/*
 * Listening sockets by name: "tcp 10.89.0.1:6443", "udp 10.89.0.1:53".
 *
 * The keeper opens them, since that may take privileges, and keeps them open; the worker holds what
 * it was handed over.  So a connection that comes while a worker is replaced waits for the next
 * one.
 */
#pragma once

#include "balancer/balancer.h"
#include "base/cleanup.h"

struct sockets;

struct sockets *sockets_new(void);
void sockets_free(struct sockets *sockets); /* closes them */
DEFINE_CLEANUP(struct sockets *, sockets_free)

/* The names of the sockets that CONFIG needs. */
void sockets_list(const struct balancer_config *config, struct strlist *ret);

/* Open those of NAMES that are missing; goes on with the others when one fails, and returns the
 * first failure.  An address in use is tried for a moment: its owner may just be dying. */
int sockets_open(struct sockets *sockets, const struct strlist *names, struct error *err);

/* Close all but NAMES. */
void sockets_keep(struct sockets *sockets, const struct strlist *names);

/* Hold FD as NAME from now on. */
void sockets_put(struct sockets *sockets, const char *name, int fd);

/* Call FN for all sockets, or for those that FN was not yet called for with `only_new`, until it
 * fails. */
typedef int (*sockets_fn)(const char *name, int fd, void *data, struct error *err);
int sockets_for_each(struct sockets *sockets, bool only_new, sockets_fn fn, void *data,
		     struct error *err);

/* Another descriptor, the caller's own, of the socket of TYPE (SOCK_STREAM, SOCK_DGRAM) on ADDRESS;
 * -ENOENT if there is none. */
int sockets_get(const struct sockets *sockets, int type, const char *address, int *ret_fd,
		struct error *err);
