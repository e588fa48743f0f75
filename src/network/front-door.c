/* The process of a running cluster's front door. */

#include "network/front-door.h"

#include "balancer/balancer.h"
#include "base/cleanup.h"
#include "cgroup/scope.h"
#include "node/cluster-node.h"

int cluster_run_front_door(const struct profile *profile, struct error *err)
{
	pid_t child;
	int r = balancer_ensure(profile->dir, err);

	if (r == 0)
		r = scope_adopt(profile->bridge, profile->name, "front-door",
				balancer_pid(profile->dir), err);
	/* A child that ended meanwhile is replaced in the control group of its keeper. */
	child = balancer_worker_pid(profile->dir);
	if (r == 0 && child > 0)
		(void)scope_adopt(profile->bridge, profile->name, "front-door", child, NULL);
	child = balancer_watcher_pid(profile->dir);
	if (r == 0 && child > 0)
		(void)scope_adopt(profile->bridge, profile->name, "front-door", child, NULL);
	child = balancer_registry_pid(profile->dir);
	if (r == 0 && child > 0)
		(void)scope_adopt(profile->bridge, profile->name, "front-door", child, NULL);
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
	bool dead = balancer_pid(profile->dir) == 0;

	/* The front door may still run with workers only; kubectl would then only repeat its
	 * requests. */
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
		return error_hint(err, -EPERM, "'sudo manykube start' repairs it");
	}
	return cluster_run_front_door(profile, err);
}
