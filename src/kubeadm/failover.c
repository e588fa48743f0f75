/* The timeouts of --failover=fast. */

#include "kubeadm/failover.h"

#include <string.h>

/*
 * A kubelet renews its lease every quarter of the lease's duration: every second.  The grace period
 * is eight times that, so that a busy host does not lose healthy nodes.  Taints for failed nodes
 * are set at this rate, one node after another; the default is one in ten seconds.
 */
static const char *const controller_manager[] = { "node-monitor-period",
						  "1s",
						  "node-monitor-grace-period",
						  "8s",
						  "node-eviction-rate",
						  "1",
						  NULL };

/* How long pods that say nothing of it tolerate a node that is NotReady or does not answer. */
static const char *const apiserver[] = { "default-not-ready-toleration-seconds", "2",
					 "default-unreachable-toleration-seconds", "2", NULL };

static bool is_fast(const struct profile *profile)
{
	return profile->failover && strcmp(profile->failover, "fast") == 0;
}

const char *const *failover_arguments(const struct profile *profile, const char *component)
{
	static const char *const none[] = { NULL };

	if (!is_fast(profile))
		return none;
	if (strcmp(component, "controller-manager") == 0)
		return controller_manager;
	return strcmp(component, "apiserver") == 0 ? apiserver : none;
}

/*
 * A node that comes back is Ready when its kubelet next compares its status with the API's, and a
 * node whose disk or memory was full takes pods again after the transition period, which is five
 * minutes by default.  The report frequency is set since it would otherwise follow the update
 * frequency: an unchanged status need not be sent, the lease is enough.
 */
void failover_set_kubelet_fields(json_t *config, const struct profile *profile)
{
	if (!is_fast(profile))
		return;
	(void)json_object_set_new(config, "nodeLeaseDurationSeconds", json_integer(4));
	(void)json_object_set_new(config, "nodeStatusUpdateFrequency", json_string("2s"));
	(void)json_object_set_new(config, "nodeStatusReportFrequency", json_string("5m"));
	(void)json_object_set_new(config, "evictionPressureTransitionPeriod", json_string("10s"));
}
