/* DNS over TCP for a cluster without servers: every query is answered with "no such name". */
#pragma once

#include "balancer/door.h"

struct dns_stream;

/* Listen on ADDRESS, for which the door has a socket, and serve trusted clients within the limits
 * of TALLY, which the caller owns. */
int dns_stream_new(const struct door *door, const char *address, struct tally *tally,
		   struct dns_stream **ret_stream, struct error *err);
void dns_stream_free(struct dns_stream *stream);
DEFINE_CLEANUP(struct dns_stream *, dns_stream_free)
