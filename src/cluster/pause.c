/*
 * Pausing nodes by freezing them, and resuming them.
 *
 * Workers are paused before control planes and resumed after them, so that no API server misses the
 * heartbeats of paused nodes.
 */

#include "base/cleanup.h"
#include "cluster/cluster.h"
#include "node-images/own-images.h"
#include "node/cluster-node.h"
#include "record/world.h"

/* Give NODE, which goes on, the images that were loaded meanwhile. */
static int deliver(const struct profile *profile, const struct node *node,
		   struct observer *observer, struct error *err)
{
	cleanup_with(own_images_outcome_release) struct own_images_outcome outcome =
		OWN_IMAGES_OUTCOME_INIT;
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;

	strlist_add(&names, node->name);
	return own_images_spread(profile, &names, observer, &outcome, err);
}

/* A node that was frozen on purpose is not resumed beside the others. */
static int refuse_frozen(const struct node *node, struct error *err)
{
	(void)error_because(err, &reason_node_failed, -EBUSY,
			    "node '%s' was frozen by 'manykube fail'", node->name);
	return error_hint(err, -EBUSY, "'manykube heal %s' resumes it", node->name);
}

/* Returns 1 if NODE was changed, 0 if it had that state already; -ESRCH if it does not run. */
static int pause_node(const struct profile *profile, const struct node *node, bool paused,
		      struct observer *observer, struct error *err)
{
	cleanup_with(cluster_node_release) struct cluster_node at = CLUSTER_NODE_INIT;
	const char *step = paused ? "pausing node" : "unpausing node";
	int r = cluster_node_open(profile, node, &at, err);

	if (r < 0)
		return r;
	if (at.driver->query(&at.spec) != NODE_RUNNING)
		return error_because(err, &reason_node_not_running, -ESRCH,
				     "node '%s' does not run", node->name);
	if (!paused && failure_is_active(profile, node->name, FAIL_FREEZE))
		return refuse_frozen(node, err);
	/* If an earlier pause was interrupted, the node may still be freezing. */
	if (cluster_node_is_paused(&at) == paused)
		return paused ? 0 : at.driver->freeze(&at.spec, false, err);
	observe_begin(observer, step, node->name);
	r = at.driver->freeze(&at.spec, paused, err);
	observe_end(observer, step, node->name, r == 0);
	if (r < 0)
		return r;
	world->after(step);
	r = paused ? 0 : deliver(profile, node, observer, err);
	return r < 0 ? r : 1;
}

/* Pause or resume the control planes, or the other nodes; those that do not run are skipped. */
static int pause_kind(const struct profile *profile, bool control_planes, bool paused,
		      unsigned *running, struct observer *observer, struct error *err)
{
	const struct node *node;
	int changed = 0;

	profile_for_each_node(node, profile) {
		cleanup_with(error_clear) struct error why = ERROR_INIT;
		int r;

		if (node->control_plane != control_planes ||
		    (!paused && failure_is_active(profile, node->name, FAIL_FREEZE)))
			continue;
		r = pause_node(profile, node, paused, observer, &why);
		if (r == -ESRCH)
			continue;
		if (r < 0)
			return error_move(err, r, &why);
		(*running)++;
		changed += r;
	}
	return changed;
}

int cluster_pause(const struct profile *profile, const struct node *node, bool paused,
		  struct observer *observer, struct error *err)
{
	unsigned running = 0;
	int first;
	int second;

	if (node)
		return pause_node(profile, node, paused, observer, err);
	first = pause_kind(profile, !paused, paused, &running, observer, err);
	if (first < 0)
		return first;
	second = pause_kind(profile, paused, paused, &running, observer, err);
	if (second < 0)
		return second;
	if (running == 0)
		return error_because(err, &reason_node_not_running, -ESRCH,
				     "cluster '%s' does not run", profile->name);
	return first + second;
}
