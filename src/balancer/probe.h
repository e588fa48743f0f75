/*
 * Asking a control plane's API server whether it is ready: TLS, GET /readyz.
 *
 * The connection is kept from one question to the next, which spares both sides a handshake
 * each second, and tells us at once when the server goes away.
 */
#pragma once

#include "base/loop.h"

struct backend;
struct prober; /* what all probes share */
struct probe;

int prober_new(struct loop *loop, struct prober **ret_prober, struct error *err);
void prober_free(struct prober *prober);
DEFINE_CLEANUP(struct prober *, prober_free)

/* Ask BACKEND from now on, and tell pool_probed() about every answer. */
int probe_new(struct prober *prober, struct backend *backend, struct probe **ret_probe,
	      struct error *err);
void probe_free(struct probe *probe);

/* Ask now instead of when it is time. */
void probe_hurry(struct probe *probe);

/*
 * Read the LEN bytes of an HTTP answer so far: 0 if it is not complete, its status code if it is,
 * -EINVAL if it is none.  *RET_CLOSE is set on a complete one when its connection can't be used
 * again.
 */
int probe_parse_answer(const char *text, size_t len, bool *ret_close);
