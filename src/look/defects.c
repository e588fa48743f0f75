/* The defects of a cluster, and what to do about them. */

#include "look/defects.h"

#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "fail/failure.h"
#include "look/health.h"

#define POLL_MS 200

char *defects_relief(const struct profile *profile, const struct node_status *status)
{
	const struct node *node = status->node;

	if (strncmp(status->pressure, "Memory", strlen("Memory")) == 0)
		return xasprintf("delete pods on it, or give it more memory with 'manykube node "
				 "set %s --memory=SIZE'",
				 node->name);
	if (strncmp(status->pressure, "PID", strlen("PID")) == 0)
		return xasprintf("'manykube ssh %s -- ps -ef' shows its processes", node->name);
	if (node->disk_bytes)
		return xasprintf("remove images or files from its disk, or enlarge it with "
				 "'manykube node set %s --disk-size=SIZE'",
				 node->name);
	return xasprintf("free space on the file system of '%s', which it shares", profile->dir);
}

/* Whether a node lacks only the pod network, which the user has to install with --cni=none. */
static bool lacks_only_network(const struct profile *profile, const struct node_status *status)
{
	return text_is(profile->cni, "none") && health_of_parts(status) == HEALTH_OK &&
	       text_is(status->readiness, "NotReady") && status->why &&
	       strstr(status->why, "NetworkPluginNotReady");
}

/* The defect of an unhealthy node. */
static char *defect_of(const struct profile *profile, const struct node_status *status)
{
	const char *name = status->node->name;
	const char *why = status->why ? status->why : "no reason given";
	cleanup_free char *failures = failures_describe(profile, name);
	cleanup_free char *relief = NULL;

	if (failures)
		return xasprintf("node '%s' fails on purpose (%s): 'manykube heal %s' ends that",
				 name, failures, name);
	if (status->node->phase == NODE_LEAVING)
		return xasprintf("the deletion of node '%s' was interrupted: delete it again to "
				 "finish",
				 name);
	if (text_is(status->readiness, "Paused"))
		return xasprintf("node '%s' is paused: 'manykube unpause -n %s' resumes it", name,
				 name);
	if (!text_is(status->host, "Running"))
		return xasprintf("node '%s' is not running: 'manykube node start %s' starts it",
				 name, name);
	if (status->pressure) {
		relief = defects_relief(profile, status);
		return xasprintf("node '%s' reports %s; %s", name, why, relief);
	}
	return xasprintf("node '%s' is %s: %s; see 'manykube logs %s'", name, status->readiness,
			 why, name);
}

void defects_list(const struct profile *profile, const struct cluster_status *status,
		  struct strlist *ret)
{
	for (size_t i = 0; i < status->count; i++) {
		const struct node_status *node = &status->nodes[i];
		cleanup_free char *defect = NULL;

		if (health_of_node(node) == HEALTH_OK || lacks_only_network(profile, node))
			continue;
		defect = defect_of(profile, node);
		strlist_add(ret, defect);
	}
	if (text_is(status->front_door, "Stopped"))
		strlist_addf(ret,
			     "nothing answers at https://127.0.0.1:%u, the API's address: see "
			     "'manykube logs --service=front-door'",
			     profile->api_port);
}

static bool is_well(const struct cluster_status *status)
{
	enum health health = health_of_cluster(status, NULL);

	return health == HEALTH_OK || health == HEALTH_HAPPY;
}

/* Whether everything that runs answers, so that a retry would find the same. */
static bool all_answer(const struct cluster_status *status)
{
	for (size_t i = 0; i < status->count; i++)
		if (text_is(status->nodes[i].host, "Running") &&
		    (text_is(status->nodes[i].readiness, "Unknown") ||
		     health_of_parts(&status->nodes[i]) != HEALTH_OK))
			return false;
	return !text_is(status->front_door, "Stopped");
}

bool defects_find(const struct profile *profile, unsigned seconds, struct strlist *ret)
{
	int64_t deadline_ms = clock_now_ms() + (int64_t)seconds * 1000;

	for (;;) {
		cleanup_with(
			cluster_status_release) struct cluster_status status = CLUSTER_STATUS_INIT;

		/* The command that works on the cluster is the caller, whose work is finished. */
		if (cluster_status_collect(profile, NULL, &status, NULL) < 0)
			return false;
		if (is_well(&status) || all_answer(&status) || clock_now_ms() >= deadline_ms) {
			defects_list(profile, &status, ret);
			return is_well(&status);
		}
		clock_rest_ms(POLL_MS);
	}
}
