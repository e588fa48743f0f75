/*
 * Readiness probes of API servers: GET /readyz over TLS.
 *
 * The connection is kept between probes.  This saves a handshake each second and shows at once when
 * the server ends.
 */
#pragma once

#include "base/loop.h"

struct backend;
struct prober; /* shared by all probes */
struct probe;

int prober_new(struct loop *loop, struct prober **ret_prober, struct error *err);
void prober_free(struct prober *prober);
DEFINE_CLEANUP(struct prober *, prober_free)

/* Probe BACKEND periodically; every result goes to pool_probed(). */
int probe_new(struct prober *prober, struct backend *backend, struct probe **ret_probe,
	      struct error *err);
void probe_free(struct probe *probe);

/* Probe now instead of at the scheduled time. */
void probe_hurry(struct probe *probe);

/*
 * Parse the LEN bytes of an HTTP answer received so far.  Returns its status code if it is
 * complete, 0 if it is not, -EINVAL if it is invalid.  For a complete answer, *RET_CLOSE tells
 * whether the connection cannot be used again.
 */
int probe_parse_answer(const char *text, size_t len, bool *ret_close);
