/* The front door of a cluster that runs. */

#include "balancer/balancer.h"
#include "base/cleanup.h"
#include "cluster/cluster.h"
#include "cluster/members.h"
#include "host/scope.h"

int cluster_run_front_door(const struct profile *profile, struct error *err)
{
	pid_t worker;
	int r = balancer_ensure(profile->folder, err);

	if (r == 0)
		r = scope_adopt(profile->bridge, profile->name, "front-door",
				balancer_pid(profile->folder), err);
	/* One that ended meanwhile is followed by one that begins where its keeper is. */
	worker = balancer_worker_pid(profile->folder);
	if (r == 0 && worker > 0)
		(void)scope_adopt(profile->bridge, profile->name, "front-door", worker, NULL);
	return r;
}

static bool has_running_control_plane(const struct profile *profile)
{
	const struct node *node;

	profile_for_each_node(node, profile)
		if (node->control_plane && cluster_node_state(profile, node) == NODE_RUNNING)
			return true;
	return false;
}

int cluster_open_front_door(const struct profile *profile, struct error *err)
{
	bool dead = balancer_pid(profile->folder) == 0;

	/* The front door may live on beside workers: kubectl would only repeat itself there. */
	if (!has_running_control_plane(profile)) {
		error_because(err, &reason_api_not_running, -ESRCH,
			      dead ? "cluster '%s' does not run"
				   : "the control plane of cluster '%s' does not run",
			      profile->name);
		return error_hint(err, -ESRCH, "'manykube start' brings it up");
	}
	if (dead && geteuid() != 0) {
		error_because(err, &reason_api_not_running, -EPERM,
			      "nothing listens at the API address of cluster '%s'", profile->name);
		return error_hint(err, -EPERM, "'sudo manykube start' mends it");
	}
	return cluster_run_front_door(profile, err);
}

/* Whether so many control planes are paused that the others have no majority. */
static bool is_paused(const struct profile *profile)
{
	const struct node *node;
	unsigned control_planes = 0;
	unsigned paused = 0;
	unsigned awake = 0;

	profile_for_each_node(node, profile) {
		cleanup_with(cluster_node_release) struct cluster_node at = CLUSTER_NODE_INIT;

		if (!node->control_plane || node->phase != NODE_JOINED)
			continue;
		control_planes++;
		if (cluster_node_open(profile, node, &at, NULL) < 0 ||
		    at.driver->query(&at.spec) != NODE_RUNNING)
			continue;
		if (cluster_node_is_paused(&at))
			paused++;
		else
			awake++;
	}
	return paused > 0 && awake < members_majority(control_planes);
}

int cluster_need_awake(const struct profile *profile, struct error *err)
{
	if (!is_paused(profile))
		return 0;
	error_because(err, &reason_api_not_running, -EBUSY,
		      "the control plane of cluster '%s' is paused", profile->name);
	return error_hint(err, -EBUSY, "'manykube unpause' lets it go on");
}
