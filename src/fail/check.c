/* Whether a failure can be made: everything that can be known before. */

#include <string.h>

#include "base/cleanup.h"
#include "fail/fail.h"
#include "node/cluster-node.h"
#include "record/world.h"

static bool is_of_network(enum fail_kind kind)
{
	return kind == FAIL_PARTITION || kind == FAIL_SLOW;
}

/* Whether nodes of this driver have a kernel, and so a clock and a disk, of their own. */
static bool has_own_kernel(const struct cluster_node *at)
{
	return !at->driver->call;
}

static int refuse(const struct failure *failure, const struct node *node, const char *why,
		  struct error *err)
{
	return error_because(err, &reason_host_unsupported, -ENOTSUP,
			     "node '%s' cannot have the failure '%s': %s", node->name,
			     fail_kind_word(failure->kind), why);
}

/* Whether NODE can fail in this way at all. */
static int check_support(const struct failure *failure, const struct node *node,
			 const struct cluster_node *at, struct error *err)
{
	int r;

	switch (failure->kind) {
	case FAIL_API:
	case FAIL_ETCD:
		if (node->control_plane)
			return 0;
		return error_because(err, &reason_usage, -EINVAL,
				     "node '%s' is a worker, which has no %s", node->name,
				     failure->kind == FAIL_API ? "API server" : "etcd");
	case FAIL_CLOCK:
		if (has_own_kernel(at))
			return 0;
		return error_because(err, &reason_host_unsupported, -ENOTSUP,
				     "node '%s' cannot have the failure 'clock': nodes of the "
				     "driver '%s' have the clock of this host",
				     node->name, at->driver->name);
	case FAIL_DISK_FULL:
		if (node->disk_bytes)
			return 0;
		r = refuse(failure, node,
			   "its kubelet does not watch its file system, as it has no --disk-size",
			   err);
		return error_hint(err, r,
				  "nodes that are created with --disk-size have a disk of "
				  "their own");
	case FAIL_MEMORY:
		if (node->memory_bytes || has_own_kernel(at))
			return 0;
		r = refuse(failure, node, "it shares all memory of this host", err);
		return error_hint(err, r, "'manykube node set %s --memory=SIZE' gives it a limit",
				  node->name);
	default:
		return 0;
	}
}

/* A node that is frozen or was killed cannot fail in any other way. */
static int check_free(const struct profile *profile, const struct failure *failure,
		      const struct node *node, struct error *err)
{
	static const enum fail_kind kinds[] = { FAIL_FREEZE, FAIL_KILL };

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (failure->kind == kinds[i] || !failure_is_active(profile, node->name, kinds[i]))
			continue;
		(void)error_because(err, &reason_node_failed, -EAGAIN, "node '%s' is %s already",
				    node->name, fail_kind_state(kinds[i]));
		return error_hint(err, -EAGAIN, "'manykube heal %s' ends that", node->name);
	}
	return 0;
}

static int check_running(const struct profile *profile, const struct failure *failure,
			 const struct node *node, const struct cluster_node *at, struct error *err)
{
	if (failure_is_active(profile, node->name, failure->kind))
		return 0;
	if (at->driver->query(&at->spec) != NODE_RUNNING)
		return error_because(err, &reason_node_not_running, -ESRCH,
				     "node '%s' does not run", node->name);
	if (failure->kind == FAIL_FREEZE || failure->kind == FAIL_KILL)
		return 0;
	return cluster_node_need_awake(profile, node, err);
}

static int check_node(const struct profile *profile, const struct failure *failure,
		      const char *name, struct error *err)
{
	cleanup_with(cluster_node_release) struct cluster_node at = CLUSTER_NODE_INIT;
	struct node *node;
	int r = profile_need_node(profile, name, &node, err);

	if (r == 0 && node->phase != NODE_JOINED)
		r = error_because(err, &reason_node_not_running, -ESRCH,
				  "node '%s' has not joined the cluster", name);
	if (r == 0)
		r = cluster_node_open(profile, node, &at, err);
	if (r == 0)
		r = check_support(failure, node, &at, err);
	if (r < 0 || is_of_network(failure->kind))
		return r;
	r = check_free(profile, failure, node, err);
	return r < 0 ? r : check_running(profile, failure, node, &at, err);
}

static bool is_part_of_host(const char *name)
{
	return strcmp(name, FAIL_PEER_HOST) == 0 || strcmp(name, FAIL_PEER_FRONT_DOOR) == 0;
}

static int check_peers(const struct profile *profile, const struct failure *failure,
		       struct error *err)
{
	const char *name;

	strlist_for_each(name, &failure->peers) {
		struct node *node;
		int r = is_part_of_host(name) ? 0 : profile_need_node(profile, name, &node, err);

		if (r < 0)
			return r;
		if (strlist_has(&failure->nodes, name))
			return error_because(err, &reason_usage, -EINVAL,
					     "node '%s' is on both sides: the network between a "
					     "node and itself cannot fail",
					     name);
	}
	return 0;
}

static int check_slow(const struct failure *failure, struct error *err)
{
	if (failure->jitter_ms && !failure->delay_ms)
		return error_because(err, &reason_usage, -EINVAL,
				     "--jitter varies a delay: it needs --delay");
	if (failure->jitter_ms > failure->delay_ms)
		return error_because(err, &reason_usage, -EINVAL,
				     "--jitter cannot be longer than --delay");
	if (!failure->delay_ms && !failure->loss_hundredths && !failure->rate_bits)
		return error_because(err, &reason_usage, -EINVAL,
				     "a slow network needs --delay, --loss or --rate");
	if (failure->delay_ms && failure->peers.count > 0)
		return error_because(err, &reason_usage, -EINVAL,
				     "--delay concerns all packets to a node: it cannot be "
				     "combined with --to");
	return failure->delay_ms ? world->delay_probe(err) : 0;
}

int fail_check(const struct profile *profile, const struct failure *failure, struct error *err)
{
	const char *name;
	int r = 0;

	if (failure->nodes.count == 0)
		return error_because(err, &reason_usage, -EINVAL, "no node is named");
	strlist_for_each(name, &failure->nodes)
		if (r == 0)
			r = check_node(profile, failure, name, err);
	if (r == 0)
		r = check_peers(profile, failure, err);
	if (r == 0 && failure->kind == FAIL_SLOW)
		r = check_slow(failure, err);
	if (r == 0 && is_of_network(failure->kind) && !world->network_is_up(profile)) {
		(void)error_because(err, &reason_node_not_running, -ESRCH,
				    "cluster '%s' does not run", profile->name);
		r = error_hint(err, -ESRCH, "'manykube start' brings it up");
	}
	return r;
}

int fail_need_none(const struct profile *profile, const char *what, struct error *err)
{
	cleanup_with(failures_release) struct failures all = FAILURES_INIT;
	cleanup_free char *words = NULL;

	failures_read(profile, &all);
	if (all.count == 0)
		return 0;
	words = failure_print(&all.items[0]);
	(void)error_because(err, &reason_node_failed, -EBUSY,
			    "%s needs a cluster without failures, and this one is active: %s", what,
			    words);
	return error_hint(err, -EBUSY, "'manykube heal' ends all failures");
}
