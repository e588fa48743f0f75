/* The control planes behind the front door. */

#include "balancer/pool.h"

#include <string.h>

#include "balancer/probe.h"
#include "balancer/report.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"

static const unsigned failures_most = 2;

/* How long connections to a server that reports "not ready" are kept.  It may still answer pending
 * requests while it waits for etcd on a busy host or shuts down. */
static const int64_t unready_most_ms = 10 * 1000;

struct pool {
	struct loop *loop;
	struct pool_events events;
	void *data;
	struct prober *prober;
	struct backend *backends;
	unsigned last_id;
	unsigned last_chosen; /* the id of the backend chosen last */
};

int pool_new(struct loop *loop, const struct pool_events *events, void *data,
	     struct pool **ret_pool, struct error *err)
{
	cleanup_with(pool_freep) struct pool *pool = xcalloc(1, sizeof(*pool));
	int r;

	pool->loop = loop;
	pool->events = *events;
	pool->data = data;
	r = prober_new(loop, &pool->prober, err);
	if (r < 0)
		return r;
	*ret_pool = take_ptr(pool);
	return 0;
}

static void backend_free(struct backend *backend)
{
	if (backend->probe)
		probe_free(backend->probe);
	free(backend->name);
	free(backend->address);
	free(backend->detail);
	free(backend);
}

void pool_free(struct pool *pool)
{
	while (pool->backends) {
		struct backend *backend = pool->backends;

		pool->backends = backend->next;
		backend_free(backend);
	}
	if (pool->prober)
		prober_free(pool->prober);
	free(pool);
}

static bool another_is_healthy(const struct backend *than)
{
	for (const struct backend *b = than->pool->backends; b; b = b->next)
		if (b != than && b->healthy)
			return true;
	return false;
}

static bool is_in_config(const struct backend *backend, const struct balancer_config *config)
{
	for (size_t i = 0; i < config->backend_count; i++)
		if (strcmp(backend->name, config->backends[i].name) == 0 &&
		    strcmp(backend->address, config->backends[i].address) == 0)
			return true;
	return false;
}

static void remove_missing(struct pool *pool, const struct balancer_config *config)
{
	struct backend **link = &pool->backends;

	while (*link) {
		struct backend *backend = *link;

		if (is_in_config(backend, config)) {
			link = &backend->next;
			continue;
		}
		*link = backend->next;
		log_debug("backend '%s' at %s is gone", backend->name, backend->address);
		pool->events.lost(backend, true, another_is_healthy(backend), pool->data);
		backend_free(backend);
	}
}

static int add_backend(struct pool *pool, const struct balancer_backend *config, struct error *err)
{
	struct backend **end = &pool->backends;
	struct backend *backend;
	struct endpoint endpoint;
	int r = endpoint_parse(config->address, &endpoint, err);

	if (r < 0)
		return r;
	for (; *end; end = &(*end)->next)
		if (strcmp((*end)->name, config->name) == 0 &&
		    strcmp((*end)->address, config->address) == 0)
			return 0;
	backend = xcalloc(1, sizeof(*backend));
	*backend = (struct backend){
		.name = xstrdup(config->name),
		.address = xstrdup(config->address),
		.endpoint = endpoint,
		.id = ++pool->last_id,
		.since = clock_wall_seconds(),
		.detail = xstrdup("not asked yet"),
		.pool = pool,
	};
	*end = backend;
	log_debug("backend '%s' at %s is new", backend->name, backend->address);
	return probe_new(pool->prober, backend, &backend->probe, err);
}

int pool_set(struct pool *pool, const struct balancer_config *config, struct error *err)
{
	for (size_t i = 0; i < config->backend_count; i++) {
		int r = add_backend(pool, &config->backends[i], err);

		if (r < 0)
			return r;
	}
	remove_missing(pool, config);
	pool->events.changed(pool->data);
	return 0;
}

static bool was_tried(const struct backend *backend, const unsigned *tried, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		if (tried[i] == backend->id)
			return true;
	return false;
}

struct backend *pool_choose(struct pool *pool, const unsigned *tried, unsigned tried_count)
{
	struct backend *first_healthy = NULL;
	struct backend *next_healthy = NULL;
	struct backend *other = NULL;

	/* Ids increase along the list, so the order survives added and removed backends. */
	for (struct backend *b = pool->backends; b; b = b->next) {
		if (was_tried(b, tried, tried_count))
			continue;
		if (!b->healthy) {
			other = other ? other : b;
			continue;
		}
		first_healthy = first_healthy ? first_healthy : b;
		if (!next_healthy && b->id > pool->last_chosen)
			next_healthy = b;
	}
	if (!next_healthy)
		next_healthy = first_healthy;
	if (!next_healthy)
		return other;
	pool->last_chosen = next_healthy->id;
	return next_healthy;
}

void pool_suspect(struct pool *pool, unsigned id)
{
	for (struct backend *b = pool->backends; b; b = b->next)
		if (b->id == id && b->healthy)
			probe_hurry(b->probe);
}

/* Whether BACKEND counts as healthy after FINDING. */
static bool is_healthy_after(const struct backend *backend, enum probe_finding finding)
{
	if (finding == PROBE_READY)
		return true;
	return backend->healthy && finding != PROBE_REFUSED && backend->failures < failures_most;
}

static void note_health(struct backend *backend, bool healthy, const char *detail)
{
	cleanup_free char *now = clock_rfc3339(clock_wall_seconds());

	log_debug("%s backend '%s' is %s: %s", now, backend->name,
		  healthy ? "healthy" : "unhealthy", detail);
	backend->healthy = healthy;
	backend->since = clock_wall_seconds();
}

/* Whether pending requests on BACKEND's connections may still be answered after FINDING. */
static bool is_promising(struct backend *backend, enum probe_finding finding)
{
	struct pool *pool = backend->pool;

	/* On a busy host, the backend may only be slow. */
	if (finding == PROBE_SILENT)
		return pool->events.is_heard(backend, pool->data);
	return clock_now_ms() - backend->failing_ms < unready_most_ms;
}

static void lose_connections(struct backend *backend)
{
	struct pool *pool = backend->pool;

	backend->is_lost = true;
	pool->events.lost(backend, false, another_is_healthy(backend), pool->data);
}

void pool_probed(struct backend *backend, enum probe_finding finding, const char *detail)
{
	struct pool *pool = backend->pool;
	bool is_news = strcmp(detail, backend->detail) != 0;
	bool healthy;

	if (finding == PROBE_READY) {
		backend->failures = 0;
		backend->is_lost = false;
	} else if (backend->failures++ == 0) {
		backend->failing_ms = clock_now_ms();
	}
	healthy = is_healthy_after(backend, finding);
	if (healthy != backend->healthy) {
		note_health(backend, healthy, detail);
		is_news = true;
	}
	if (!healthy && !backend->is_lost && !is_promising(backend, finding))
		lose_connections(backend);
	if (!is_news)
		return;
	free(backend->detail);
	backend->detail = xstrdup(detail);
	pool->events.changed(pool->data);
}

void pool_report(const struct pool *pool, struct strbuf *report)
{
	for (const struct backend *b = pool->backends; b; b = b->next)
		report_add(report, b->name, b->address, b->healthy, b->since, b->detail);
}
