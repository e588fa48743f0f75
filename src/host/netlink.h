/*
 * Requests to the kernel's rtnetlink and its answers: what link.c and link-list.c stand on.
 *
 * One request at a time is built in the socket and sent; answers are read until the
 * kernel's acknowledgement (or, for a dump, its end) with our sequence number; what still
 * comes for an older request is passed over.
 */
#pragma once

#include <libmnl/libmnl.h>
#include <net/if.h>

#include "host/link.h"

struct link_socket {
	struct mnl_socket *socket;
	unsigned sequence;
	char *why; /* the kernel's own words about the last failure, or NULL */

	/* Requests hold two names and some numbers; answers are as long as the kernel likes, up to
	 * 32 KiB. */
	char request[1024] __attribute__((__aligned__(8)));
	char answer[32768] __attribute__((__aligned__(8)));
};

/* A link as an answer describes it. */
struct netlink_link {
	int index;
	char name[IFNAMSIZ];
	bool is_bridge;
};

/* Begin a request of TYPE whose own header has LEN bytes; returns that header, zeroed. */
void *netlink_begin(struct link_socket *socket, uint16_t type, uint16_t flags, size_t len);

/* The request begun, for attributes to be put into. */
struct nlmsghdr *netlink_request(struct link_socket *socket);

/* Told of each message that answers a request; must not use the socket. */
typedef void (*netlink_answer_fn)(const struct nlmsghdr *message, void *data);

/* Send the request begun and tell FN (may be NULL) of the answers; 0 or a negative errno, -EINTR if
 * what was dumped changed meanwhile. */
int netlink_exchange(struct link_socket *socket, netlink_answer_fn fn, void *data);

/* Why the last exchange failed with CODE. */
const char *netlink_words(const struct link_socket *socket, int code);

/* Read MESSAGE, if it is an RTM_NEWLINK, into RET; false if it is not. */
bool netlink_read_link(const struct nlmsghdr *message, struct netlink_link *ret);
