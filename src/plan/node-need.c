/* What a start does with a node. */

#include "plan/node-need.h"

#include "base/cleanup.h"
#include "node/cluster-node.h"

static const struct {
	const char *words;
	const char *prospect;
} texts[] = {
	[NODE_NEEDS_NOTHING] = { NULL, "runs" },
	[NODE_NEEDS_JOIN] = { "is created: it has not joined the cluster", "would be created" },
	[NODE_NEEDS_START] = { "is started: it is down", "would be started" },
	[NODE_NEEDS_UNPAUSE] = { "is unpaused: it is paused", "is paused, would be unpaused" },
	[NODE_NEEDS_UNCORDON] = { "is made schedulable again: a command that drained it did not "
				  "finish",
				  "runs, would be made schedulable again because a command that "
				  "drained it did not finish" },
};

enum node_need node_need_find(const struct profile *profile, const struct node *node)
{
	cleanup_with(cluster_node_release) struct cluster_node at = CLUSTER_NODE_INIT;

	if (node->phase != NODE_JOINED)
		return NODE_NEEDS_JOIN;
	if (cluster_node_open(profile, node, &at, NULL) < 0 ||
	    at.driver->query(&at.spec) != NODE_RUNNING || cluster_node_is_stopping(&at))
		return NODE_NEEDS_START;
	if (cluster_node_is_paused(&at))
		return NODE_NEEDS_UNPAUSE;
	return strlist_has(&profile->drained, node->name) ? NODE_NEEDS_UNCORDON
							  : NODE_NEEDS_NOTHING;
}

const char *node_need_words(enum node_need need)
{
	return texts[need].words;
}

const char *node_need_prospect(enum node_need need)
{
	return texts[need].prospect;
}
