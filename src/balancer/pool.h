/*
 * The control planes behind the front door: their health, and the choice between them.
 *
 * A backend stays valid until `lost` was called with GONE.
 */
#pragma once

#include "balancer/balancer.h"
#include "base/loop.h"
#include "base/strbuf.h"
#include "host/endpoint.h"

struct probe;

/* The result of a probe. */
enum probe_finding {
	PROBE_READY,   /* the server is ready */
	PROBE_UNREADY, /* the server reports that it is not ready */
	PROBE_REFUSED, /* nothing listens */
	PROBE_SILENT,  /* no answer */
};

struct backend {
	char *name;
	char *address;
	struct endpoint endpoint;
	unsigned id; /* never reused */
	bool healthy;
	unsigned failures;  /* consecutive failed probes */
	int64_t failing_ms; /* the time of the first of these */
	bool is_lost;       /* `lost` was called since then */
	int64_t since;      /* when `healthy` changed, in seconds since 1970 */
	char *detail;       /* the result of the last probe in words */
	struct pool *pool;
	struct probe *probe;
	struct backend *next;
};

/* Callbacks of the pool's owner. */
struct pool_events {
	/* The health or the detail of a backend changed, or the list of backends. */
	void (*changed)(void *data);
	/* BACKEND does not answer at all, has been unready for long, or is being removed (GONE).
	 * OTHER: another healthy backend exists. */
	void (*lost)(struct backend *backend, bool gone, bool other, void *data);
	/* Whether BACKEND has recently sent data on one of its connections. */
	bool (*is_heard)(struct backend *backend, void *data);
};

struct pool;

int pool_new(struct loop *loop, const struct pool_events *events, void *data,
	     struct pool **ret_pool, struct error *err);
void pool_free(struct pool *pool);
DEFINE_CLEANUP(struct pool *, pool_free)

/* Use exactly the backends of CONFIG; those with the same name and address are kept. */
int pool_set(struct pool *pool, const struct balancer_config *config, struct error *err);

/*
 * Choose the backend for a new connection, without those whose ids are in TRIED: the next healthy
 * one in turn or, if there is none, the first unhealthy one; NULL if all were tried.
 */
struct backend *pool_choose(struct pool *pool, const unsigned *tried, unsigned tried_count);

/* Probe the backend ID now, because a connection to it failed. */
void pool_suspect(struct pool *pool, unsigned id);

/* Record the result of a probe; DETAIL is its text for the status file. */
void pool_probed(struct backend *backend, enum probe_finding finding, const char *detail);

/* Add all backends to REPORT (report.h). */
void pool_report(const struct pool *pool, struct strbuf *report);
