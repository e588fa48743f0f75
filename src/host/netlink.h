/*
 * Requests to the kernel's rtnetlink, and answers: the basis of link.c and link-list.c.
 *
 * One request at a time is built in the socket and sent.  Answers are read until the kernel's
 * acknowledgement with our sequence number, or the end of a dump.  Late answers to earlier requests
 * are ignored.
 */
#pragma once

#include <libmnl/libmnl.h>
#include <net/if.h>

#include "host/link.h"

struct link_socket {
	struct mnl_socket *socket;
	unsigned sequence;
	char *why; /* the kernel's error message for the last failure, or NULL */

	/* Requests hold two names and some numbers; answers of the kernel have up to 32 KiB. */
	char request[1024] __attribute__((__aligned__(8)));
	char answer[32768] __attribute__((__aligned__(8)));
};

/* The attributes of a link. */
struct netlink_link {
	int index;
	char name[IFNAMSIZ];
	bool is_bridge;
};

/* Begin a request of TYPE whose header has LEN bytes; returns that header, zeroed. */
void *netlink_begin(struct link_socket *socket, uint16_t type, uint16_t flags, size_t len);

/* The current request, for adding attributes. */
struct nlmsghdr *netlink_request(struct link_socket *socket);

/* Called for each answer to a request; must not use the socket. */
typedef void (*netlink_answer_fn)(const struct nlmsghdr *message, void *data);

/* Send the current request and call FN (may be NULL) for each answer.  Returns 0 or a negative
 * errno; -EINTR if the dumped objects changed during the dump. */
int netlink_exchange(struct link_socket *socket, netlink_answer_fn fn, void *data);

/* The reason for the failure CODE of the last exchange. */
const char *netlink_words(const struct link_socket *socket, int code);

/* Read MESSAGE, if it is an RTM_NEWLINK, into RET; false if it is not. */
bool netlink_read_link(const struct nlmsghdr *message, struct netlink_link *ret);
