/* Ports of the host that are forwarded to nodes. */

#include "balancer/forward.h"

#include <string.h>

#include "balancer/proxy.h"
#include "base/alloc.h"
#include "base/cleanup.h"

/* Protocols may take longer until the first byte than the API does. */
static const unsigned silent_limit_ms = 5 * 60 * 1000;
static const unsigned idle_limit_ms = 8 * 60 * 60 * 1000;

struct target {
	char *address;
	struct endpoint endpoint;
	unsigned id; /* stays the same as long as the address is configured */
};

struct forward {
	char *listen;
	struct target *targets;
	unsigned target_count;
	unsigned last_id;
	struct proxy *proxy;
	bool wanted; /* used while a new configuration is applied */
	struct forward *next;
};

struct forwards {
	struct door door;
	struct proxy_limits limits;
	struct forward *first;
};

struct forwards *forwards_new(const struct door *door, unsigned connection_limit)
{
	struct forwards *forwards = xcalloc(1, sizeof(*forwards));

	*forwards = (struct forwards){
		.door = *door,
		.limits = { .tally = tally_new(connection_limit),
			    .silent_ms = silent_limit_ms,
			    .idle_ms = idle_limit_ms },
	};
	return forwards;
}

static void free_targets(struct target *targets, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(targets[i].address);
	free(targets);
}

static void forward_free(struct forward *forward)
{
	if (forward->proxy)
		proxy_free(forward->proxy);
	free_targets(forward->targets, forward->target_count);
	free(forward->listen);
	free(forward);
}

void forwards_free(struct forwards *forwards)
{
	while (forwards->first) {
		struct forward *forward = forwards->first;

		forwards->first = forward->next;
		forward_free(forward);
	}
	tally_free(forwards->limits.tally);
	free(forwards);
}

static bool choose(const unsigned *tried, unsigned tried_count, struct proxy_target *ret,
		   void *data)
{
	struct forward *forward = data;

	for (unsigned i = 0; i < forward->target_count; i++) {
		const struct target *target = &forward->targets[i];
		bool was_tried = false;

		for (unsigned j = 0; j < tried_count; j++)
			was_tried = was_tried || tried[j] == target->id;
		if (was_tried)
			continue;
		*ret = (struct proxy_target){ .endpoint = &target->endpoint, .id = target->id };
		return true;
	}
	return false;
}

static void failed(arg_unused unsigned target, arg_unused void *data)
{
}

static struct forward *find_forward(const struct forwards *forwards, const char *listen)
{
	for (struct forward *f = forwards->first; f; f = f->next)
		if (strcmp(f->listen, listen) == 0)
			return f;
	return NULL;
}

static const struct target *find_target(const struct target *targets, size_t count,
					const char *address)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(targets[i].address, address) == 0)
			return &targets[i];
	return NULL;
}

/* Replace the targets of FORWARD; connections to those that are no longer among them end. */
static int set_targets(struct forward *forward, const struct strlist *to, struct error *err)
{
	struct target *old = forward->targets;
	unsigned old_count = forward->target_count;
	struct target *targets = xcalloc(to->count, sizeof(*targets));
	int r = 0;

	for (size_t i = 0; r == 0 && i < to->count; i++) {
		const struct target *same = find_target(old, old_count, to->items[i]);

		targets[i].address = xstrdup(to->items[i]);
		targets[i].id = same ? same->id : ++forward->last_id;
		r = endpoint_parse(to->items[i], &targets[i].endpoint, err);
	}
	if (r < 0) {
		free_targets(targets, to->count);
		return r;
	}
	forward->targets = targets;
	forward->target_count = (unsigned)to->count;
	for (unsigned i = 0; i < old_count; i++)
		if (!find_target(targets, to->count, old[i].address))
			proxy_withdraw(forward->proxy, old[i].id);
	free_targets(old, old_count);
	return 0;
}

static int set_one(struct forwards *forwards, const struct balancer_forward *config,
		   struct error *err)
{
	struct forward *forward = find_forward(forwards, config->listen);

	if (!forward) {
		struct proxy_owner owner = { .choose = choose, .failed = failed };

		forward = xcalloc(1, sizeof(*forward));
		forward->listen = xstrdup(config->listen);
		owner.data = forward;
		forward->proxy = proxy_new(&forwards->door, &owner, &forwards->limits);
		forward->next = forwards->first;
		forwards->first = forward;
	}
	forward->wanted = true;
	if (set_targets(forward, &config->to, err) < 0)
		return -EINVAL;
	return proxy_listen(forward->proxy, &forward->listen, 1, err);
}

int forwards_set(struct forwards *forwards, const struct balancer_config *config, struct error *err)
{
	struct forward **link = &forwards->first;
	int result = 0;

	for (struct forward *f = forwards->first; f; f = f->next)
		f->wanted = false;
	for (size_t i = 0; i < config->forward_count; i++) {
		int r = set_one(forwards, &config->forwards[i], result == 0 ? err : NULL);

		result = result < 0 ? result : r;
	}
	while (*link) {
		struct forward *forward = *link;

		if (forward->wanted) {
			link = &forward->next;
			continue;
		}
		*link = forward->next;
		forward_free(forward);
	}
	return result;
}
