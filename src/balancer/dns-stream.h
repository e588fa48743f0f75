/* DNS by TCP for a cluster without servers: every question is answered with "no such name". */
#pragma once

#include "base/loop.h"

struct dns_stream;

/* Listen on ADDRESS for at most CLIENTS_MOST clients at once. */
int dns_stream_new(struct loop *loop, const char *address, unsigned clients_most,
		   struct dns_stream **ret_stream, struct error *err);
void dns_stream_free(struct dns_stream *stream);
DEFINE_CLEANUP(struct dns_stream *, dns_stream_free)
