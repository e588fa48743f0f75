/* DNS by TCP for a cluster without servers: every question is answered with "no such name". */
#pragma once

#include "balancer/door.h"

struct dns_stream;

/* Listen on ADDRESS, which the door has a socket for, for clients of the cluster as far as TALLY,
 * which stays the caller's, allows. */
int dns_stream_new(const struct door *door, const char *address, struct tally *tally,
		   struct dns_stream **ret_stream, struct error *err);
void dns_stream_free(struct dns_stream *stream);
DEFINE_CLEANUP(struct dns_stream *, dns_stream_free)
