/*
 * Stopping nodes in order.  They keep their files, addresses and Node objects.
 *
 * Nodes of the same kind are stopped at the same time, each by a child process: an orderly shutdown
 * takes seconds.  Control planes come last, since workers report the end of their pods to them.  If
 * other control planes keep running, these take over first (hand-over.c).
 */

#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/jobs.h"
#include "cluster/cluster.h"
#include "kubeadm/members.h"
#include "node/cluster-node.h"
#include "record/world.h"

#define GRACE_SECONDS 30

static int stop_node(const struct profile *profile, const struct node *node, struct error *err)
{
	cleanup_with(cluster_node_release) struct cluster_node at = CLUSTER_NODE_INIT;
	int r = cluster_node_open(profile, node, &at, err);

	if (r == 0 && at.driver->query(&at.spec) == NODE_ABSENT)
		return 0;
	return r < 0 ? r : at.driver->stop(&at.spec, GRACE_SECONDS, err);
}

/* The work of a job: stop a node. */
struct stopping {
	const struct profile *profile;
	const struct node *node;
	struct observer *watcher; /* NULL if the node did not run */
	struct job job;
};

static int do_stopping(const void *arg, struct error *err)
{
	const struct stopping *stopping = arg;

	return stop_node(stopping->profile, stopping->node, err);
}

/* Stop the nodes of one kind that are in NAMES (NULL: all), all at once; returns how many ran.
 * Remains of dead nodes on this host are removed, too. */
static int stop_kind(const struct profile *profile, bool control_planes,
		     const struct strlist *names, struct observer *observer, struct error *err)
{
	cleanup_free struct stopping *all = xcalloc(profile->node_count, sizeof(*all));
	const struct node *node;
	size_t count = 0;
	int result = 0;
	int ran = 0;

	profile_for_each_node(node, profile) {
		struct stopping *stopping = &all[count];
		int r;

		if (node->control_plane != control_planes ||
		    (names && !strlist_has(names, node->name)))
			continue;
		*stopping = (struct stopping){ .profile = profile, .node = node };
		if (cluster_node_state(profile, node) == NODE_RUNNING) {
			stopping->watcher = observer;
			ran++;
		}
		observe_begin(stopping->watcher, "stopping node", node->name);
		r = job_begin(do_stopping, stopping, &stopping->job, err);
		if (r < 0) {
			result = r;
			break;
		}
		count++;
	}
	for (size_t i = 0; i < count; i++) {
		struct error *why = result == 0 ? err : NULL;
		int r = job_end(&all[i].job, why);

		if (r < 0)
			(void)error_reason(why, r, &reason_node_failed);
		observe_end(all[i].watcher, "stopping node", all[i].node->name, r == 0);
		result = result < 0 ? result : r;
	}
	if (result == 0 && count > 0)
		world->after("stop nodes");
	return result < 0 ? result : ran;
}

/* Whether NAMES includes control planes, and others keep running without them. */
static bool others_continue(const struct profile *profile, const struct strlist *names)
{
	struct members_tally left = members_tally(profile, names);
	const char *name;

	if (left.running < members_majority(left.count))
		return false;
	strlist_for_each(name, names) {
		const struct node *node = profile_find_node(profile, name);

		if (node && node->control_plane && node->phase == NODE_JOINED)
			return true;
	}
	return false;
}

int cluster_stop_nodes(const struct profile *profile, const struct strlist *names,
		       struct observer *observer, struct error *err)
{
	int workers = stop_kind(profile, false, names, observer, err);
	bool hands_over = workers >= 0 && names && others_continue(profile, names);
	int control_planes;

	if (hands_over)
		cluster_hand_over(profile, names, observer);
	control_planes = workers < 0 ? workers : stop_kind(profile, true, names, observer, err);
	/* The front door detects itself when they are back. */
	if (hands_over && control_planes >= 0)
		(void)world->front_door_up(profile, NULL);
	return control_planes < 0 ? control_planes : workers + control_planes;
}

int cluster_stop(const struct profile *profile, bool keep_context, struct observer *observer,
		 struct error *err)
{
	int ran = cluster_stop_nodes(profile, NULL, observer, err);
	int r = ran < 0 ? ran : world->front_door_down(profile, err);

	if (r == 0)
		r = fail_leave_host(profile, err);
	if (r == 0)
		r = world->network_down(profile, err);
	if (r == 0 && !keep_context)
		cluster_forget_context(profile->name);
	return r < 0 ? r : ran;
}
