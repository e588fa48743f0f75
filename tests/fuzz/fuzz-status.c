/* What the API and the events file say of a cluster: damaged, they still make a status. */

#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "look/activity.h"
#include "look/detail.h"
#include "look/readiness.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct node node = { .name = (char *)"node-1", .control_plane = true };
	struct node_status nodes[] = {
		{ &node, "Running", "Running", "Running", "Configured", 0 },
	};
	struct cluster_status status = { nodes, 1 };
	cleanup_with(cluster_detail_release) struct cluster_detail detail = CLUSTER_DETAIL_INIT;
	cleanup_with(activity_release) struct activity activity = ACTIVITY_INIT;
	cleanup_free char *text = xstrndup((const char *)data, size);
	json_auto_t *answer = json_loads(text, JSON_DECODE_ANY, NULL);

	status.api_nodes = answer;
	activity_parse(text, &activity);
	readiness_read(&status, answer, activity.busy_with);
	activity_settle(&activity, &status);
	cluster_detail_read(&status, answer, &detail);
	assert(detail.count == 1 && detail.nodes[0].state);
	assert(detail.nodes[0].pods >= -1);
	free(nodes[0].pressure);
	free(nodes[0].why);
	return 0;
}
