/*
 * Messages of the watcher to the keeper, over a stream: a line "NAME LENGTH", and LENGTH bytes.
 *
 *	routes         lines "ADDRESS NODE": this host reaches ADDRESS through the node at NODE
 *	policy NODE    the network policies of the node NODE, see policy/model.h
 *
 * Each message replaces an earlier one of the same name.
 */
#pragma once

#include <netinet/in.h>

#include "base/error.h"
#include "base/strbuf.h"

#define FRAME_NAME_MOST 100
#define FRAME_MOST      (8u << 20)

/* Send a message; waits for room. */
int frame_send(int fd, const char *name, const char *text, size_t len, struct error *err);

/*
 * Take the first message from IN, into which the bytes that arrived were added.  Returns 1 if there
 * is one, with its NAME and TEXT, which stays valid until IN changes; 0 if there is not yet;
 * -EBADMSG if this is no message.  *RET_USED is how many bytes it takes.
 */
int frame_take(const struct strbuf *in, char name[FRAME_NAME_MOST + 1], const char **ret_text,
	       size_t *ret_len, size_t *ret_used);

/* A route of the message `routes`. */
struct frame_route {
	struct in_addr address;
	struct in_addr via;
};

/*
 * Parse the LEN bytes of TEXT, the message `routes`; the caller frees *RET_ROUTES.  -EBADMSG unless
 * all of it is valid.
 */
int frame_parse_routes(const char *text, size_t len, struct frame_route **ret_routes,
		       size_t *ret_count, struct error *err);
