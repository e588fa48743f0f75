/*
 * The control planes behind the front door: which there are, which are healthy, whose turn it is.
 *
 * A backend stays valid until it was reported as gone.
 */
#pragma once

#include "balancer/balancer.h"
#include "balancer/endpoint.h"
#include "base/loop.h"
#include "base/strbuf.h"

struct probe;

/* What a probe found: a server that is ready; one that says that it is not; nobody who listens; no
 * answer. */
enum probe_finding {
	PROBE_READY,
	PROBE_UNREADY,
	PROBE_REFUSED,
	PROBE_SILENT,
};

struct backend {
	char *name;
	char *address;
	struct endpoint endpoint;
	unsigned id; /* never used again for another one */
	bool healthy;
	unsigned failures;  /* of the last probes, in a row */
	int64_t failing_ms; /* when the first of these was */
	bool is_lost;       /* its connections were given up since then */
	int64_t since;      /* when `healthy` changed, in seconds since 1970 */
	char *detail;       /* what the last probe found */
	struct pool *pool;
	struct probe *probe;
	struct backend *next;
};

/* What the pool tells its owner. */
struct pool_events {
	/* The health or the detail of some backend changed, or a backend came or went. */
	void (*changed)(void *data);
	/* BACKEND does not answer anybody, has not been ready for long, or is to be freed (GONE);
	 * another healthy one exists if OTHER. */
	void (*lost)(struct backend *backend, bool gone, bool other, void *data);
	/* Whether BACKEND has sent something lately on one of its connections. */
	bool (*is_heard)(struct backend *backend, void *data);
};

struct pool;

int pool_new(struct loop *loop, const struct pool_events *events, void *data,
	     struct pool **ret_pool, struct error *err);
void pool_free(struct pool *pool);
DEFINE_CLEANUP(struct pool *, pool_free)

/* Have just the backends of CONFIG; those whose name and address stay are left alone. */
int pool_set(struct pool *pool, const struct balancer_config *config, struct error *err);

/*
 * The backend for a new connection that already tried those whose ids are in TRIED: the next
 * healthy one in turn; when there is none, the first of the others; NULL when all were tried.
 */
struct backend *pool_choose(struct pool *pool, const unsigned *tried, unsigned tried_count);

/* A connection to the backend ID could not be made: look at it now. */
void pool_suspect(struct pool *pool, unsigned id);

/* For the probe: what it found, and how the status file words it. */
void pool_probed(struct backend *backend, enum probe_finding finding, const char *detail);

/* Add what there is to say of all backends (report.h). */
void pool_report(const struct pool *pool, struct strbuf *report);
