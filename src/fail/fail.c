/* Making failures and undoing them. */

#include "fail/fail.h"

#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "fail/cut.h"
#include "fail/delay.h"
#include "fail/hold.h"
#include "fail/pressure.h"
#include "fail/timer.h"
#include "node/cluster-node.h"
#include "record/world.h"

static bool is_of_network(const struct failure *failure)
{
	return failure->kind == FAIL_PARTITION || failure->kind == FAIL_SLOW;
}

/* The program that a failure of KIND holds down, and whether it is a static pod. */
static const char *held_program(enum fail_kind kind, bool *ret_pod)
{
	*ret_pod = kind == FAIL_API || kind == FAIL_ETCD;
	return kind == FAIL_KUBELET   ? "kubelet"
	       : kind == FAIL_RUNTIME ? "containerd"
	       : kind == FAIL_API     ? "kube-apiserver"
				      : "etcd";
}

/* Make FAILURE, which is not of the network, on the node AT. */
static int make_on_node(const struct failure *failure, const struct cluster_node *at,
			struct error *err)
{
	const char *program;
	bool pod;

	switch (failure->kind) {
	case FAIL_FREEZE:
		if (at->driver->query(&at->spec) != NODE_RUNNING)
			return 0;
		return at->driver->freeze(&at->spec, true, err);
	case FAIL_KILL:
		return at->driver->stop(&at->spec, 0, err);
	case FAIL_DISK_FULL:
		return pressure_fill_disk(at, err);
	case FAIL_MEMORY:
		return pressure_take_memory(at, err);
	case FAIL_CLOCK:
		return pressure_set_clock(at, failure->offset_seconds, err);
	default:
		program = held_program(failure->kind, &pod);
		return pod ? hold_pod(at, program, err) : hold_service(at, program, err);
	}
}

static int undo_on_node(const struct failure *failure, const struct cluster_node *at,
			struct error *err)
{
	const char *program;
	bool pod;

	switch (failure->kind) {
	case FAIL_FREEZE:
		return at->driver->freeze(&at->spec, false, err);
	case FAIL_KILL:
		return 0;
	case FAIL_DISK_FULL:
		return pressure_free_disk(at, err);
	case FAIL_MEMORY:
		return pressure_give_memory(at, err);
	case FAIL_CLOCK:
		return pressure_mend_clock(at, err);
	default:
		program = held_program(failure->kind, &pod);
		return pod ? hold_release_pod(at, program, err)
			   : hold_release_service(at, program, err);
	}
}

/* Call FN for the node of FAILURE, unless it is gone. */
static int with_node(const struct profile *profile, const struct failure *failure,
		     int (*fn)(const struct failure *, const struct cluster_node *, struct error *),
		     struct error *err)
{
	cleanup_with(cluster_node_release) struct cluster_node at = CLUSTER_NODE_INIT;
	const struct node *node = profile_find_node(profile, failure->nodes.items[0]);
	int r = node ? cluster_node_open(profile, node, &at, err) : -ENOENT;

	if (!node)
		return 0;
	return r < 0 ? r : error_reason(err, fn(failure, &at, err), &reason_node_failed);
}

static int set_timer(const struct profile *profile, struct error *err)
{
	return world->failure_timer(profile, fail_timer_next(profile) > 0, err);
}

static int load_rules(const struct profile *profile, struct error *err)
{
	cleanup_free char *rules = NULL;
	int r = cut_rules(profile, &rules, err);

	return r < 0 ? r : world->cut(profile, rules, err);
}

/* Make the network of FAILURE, which begins or has ended, what the record says. */
static int make_on_network(const struct profile *profile, const struct failure *failure,
			   struct error *err)
{
	int r = load_rules(profile, err);

	/* Also without a delay: it may replace a failure that had one. */
	if (r == 0 && failure->kind == FAIL_SLOW)
		r = delay_apply(profile, &failure->nodes, err);
	return r;
}

int fail_renew_network(const struct profile *profile, struct error *err)
{
	int r = load_rules(profile, err);

	return r < 0 ? r : set_timer(profile, err);
}

int fail_leave_host(const struct profile *profile, struct error *err)
{
	int r = world->failure_timer(profile, false, err);

	return r < 0 ? r : world->cut(profile, NULL, err);
}

/* Record FAILURE with the times of one that begins now, and have it ended in time. */
static int record_from_now(struct profile *profile, struct failure *failure, struct error *err)
{
	int r;

	failure->since = clock_wall_seconds();
	failure->until = failure->for_seconds ? failure->since + failure->for_seconds : 0;
	failures_add(profile, failure);
	r = profile_save(profile, err);
	if (r == 0)
		world->after("write failure");
	return r < 0 ? r : set_timer(profile, err);
}

/* A failure of one node, or of the network between nodes, that is checked. */
static int begin_one(struct profile *profile, const struct failure *failure,
		     struct observer *observer, struct error *err)
{
	cleanup_with(failure_release) struct failure active = FAILURE_INIT;
	const char *name = failure->nodes.count == 1 ? failure->nodes.items[0] : NULL;
	cleanup_free char *step = xasprintf("making failure '%s'", fail_kind_word(failure->kind));
	int r;

	failure_copy(failure, &active);
	/* Before it is made: it must end even if this process does. */
	r = record_from_now(profile, &active, err);
	if (r < 0)
		return r;
	world->after("record failure");
	observe_begin(observer, step, name);
	r = is_of_network(&active) ? make_on_network(profile, &active, err)
				   : with_node(profile, &active, make_on_node, err);
	observe_end(observer, step, name, r >= 0);
	if (r < 0)
		return error_hint(err, r, "the failure is only half made: 'manykube heal' ends it");
	world->after("make failure");
	/* Making it may have taken long, which does not count. */
	return active.until ? record_from_now(profile, &active, err) : 0;
}

int fail_begin(struct profile *profile, const struct failure *failure, struct observer *observer,
	       struct error *err)
{
	const char *name;
	int r = fail_check(profile, failure, err);

	if (r < 0 || is_of_network(failure))
		return r < 0 ? r : begin_one(profile, failure, observer, err);
	strlist_for_each(name, &failure->nodes) {
		cleanup_with(failure_release) struct failure one = FAILURE_INIT;

		failure_copy(failure, &one);
		strlist_release(&one.nodes);
		strlist_add(&one.nodes, name);
		if (r == 0)
			r = begin_one(profile, &one, observer, err);
	}
	return r;
}

/* Whether one of NODES is in LIST. */
static bool has_any(const struct strlist *list, const struct strlist *nodes)
{
	const char *name;

	strlist_for_each(name, nodes)
		if (strlist_has(list, name))
			return true;
	return false;
}

bool fail_selects(const struct fail_selection *selection, const struct failure *failure)
{
	if (selection->nodes && !has_any(&failure->nodes, selection->nodes) &&
	    !has_any(&failure->peers, selection->nodes))
		return false;
	if (selection->only && !failure_is_same(selection->only, failure))
		return false;
	return !selection->expired || (failure->until && failure->until * 1000 <= clock_wall_ms());
}

/* Put what is left of FAILURE of the network without NODES (NULL: nothing) into the record. */
static void reduce(struct profile *profile, const struct failure *failure,
		   const struct strlist *nodes)
{
	cleanup_with(failure_release) struct failure left = FAILURE_INIT;
	const char *name;

	failures_remove(profile, failure);
	if (!nodes)
		return;
	failure_copy(failure, &left);
	strlist_for_each(name, nodes) {
		strlist_remove(&left.nodes, name);
		strlist_remove(&left.peers, name);
	}
	if (left.nodes.count > 0 && (left.peers.count > 0 || failure->peers.count == 0))
		failures_add(profile, &left);
}

/* Whether the node of FAILURE is to be started: a cluster that was stopped meanwhile stays so. */
static bool is_down(const struct profile *profile, const struct failure *failure)
{
	const struct node *node = profile_find_node(profile, failure->nodes.items[0]);

	return (failure->kind == FAIL_KILL || failure->kind == FAIL_FREEZE) && node &&
	       node->phase == NODE_JOINED && world->network_is_up(profile) &&
	       cluster_node_state(profile, node) != NODE_RUNNING;
}

static int end_one(struct profile *profile, const struct failure *failure,
		   const struct strlist *nodes, struct strlist *ret_killed, struct error *err)
{
	int r;

	if (is_of_network(failure)) {
		reduce(profile, failure, nodes);
		r = make_on_network(profile, failure, err);
	} else {
		r = with_node(profile, failure, undo_on_node, err);
		failures_remove(profile, failure);
	}
	if (r < 0)
		return r;
	world->after("undo failure");
	if (is_down(profile, failure) && !strlist_has(ret_killed, failure->nodes.items[0]))
		strlist_add(ret_killed, failure->nodes.items[0]);
	r = profile_save(profile, err);
	if (r == 0)
		world->after("forget failure");
	return r;
}

/* End those of the selected failures of ALL that freeze nodes, or the others. */
static int end_some(struct profile *profile, const struct failures *all,
		    const struct fail_selection *selection, bool frozen, struct observer *observer,
		    struct strlist *ret_killed, struct error *err)
{
	const struct failure *failure;
	int count = 0;

	failures_for_each(failure, all) {
		const char *name = failure->nodes.count == 1 ? failure->nodes.items[0] : NULL;
		cleanup_free char *step = xasprintf("ending failure '%s'",
						    fail_kind_word(failure->kind));
		int r;

		if ((failure->kind == FAIL_FREEZE) != frozen || !fail_selects(selection, failure))
			continue;
		observe_begin(observer, step, name);
		r = end_one(profile, failure, selection->nodes, ret_killed, err);
		observe_end(observer, step, name, r == 0);
		if (r < 0)
			return r;
		count++;
	}
	return count;
}

/* Frozen nodes go on first: the files of a VM can only be changed while it runs. */
int fail_end(struct profile *profile, const struct fail_selection *selection,
	     struct observer *observer, struct strlist *ret_killed, struct error *err)
{
	cleanup_with(failures_release) struct failures all = FAILURES_INIT;
	int others = 0;
	int frozen;
	int r;

	failures_read(profile, &all);
	frozen = end_some(profile, &all, selection, true, observer, ret_killed, err);
	if (frozen >= 0)
		others = end_some(profile, &all, selection, false, observer, ret_killed, err);
	if (frozen < 0 || others < 0)
		return MIN(frozen, others);
	/* Also if there is none: an earlier command may have been interrupted here. */
	r = set_timer(profile, err);
	return r < 0 ? r : frozen + others;
}

/* What holds services down is in the node's files; the clock, and a queue at its port, are not. */
int fail_renew_node(const struct profile *profile, const struct node *node, struct error *err)
{
	cleanup_with(failures_release) struct failures all = FAILURES_INIT;
	const struct failure *failure;
	int r = 0;

	failures_read(profile, &all);
	failures_for_each(failure, &all) {
		if (r < 0 || !strlist_has(&failure->nodes, node->name))
			continue;
		if (failure->kind == FAIL_CLOCK)
			r = with_node(profile, failure, make_on_node, err);
		else if (failure->delay_ms)
			r = delay_apply(profile, &failure->nodes, err);
	}
	return r;
}

int fail_forget_node(struct profile *profile, const char *name, struct error *err)
{
	cleanup_with(failures_release) struct failures own = FAILURES_INIT;
	cleanup_with(strlist_release) struct strlist nodes = STRLIST_INIT;
	const struct failure *failure;

	strlist_add(&nodes, name);
	failures_of_node(profile, name, &own);
	failures_for_each(failure, &own)
		reduce(profile, failure, is_of_network(failure) ? &nodes : NULL);
	if (own.count == 0)
		return 0;
	return world->network_is_up(profile) ? fail_renew_network(profile, err) : 0;
}
