#include "cluster/status.h"
#include "test.h"

TEST(reads_what_the_agent_wrote)
{
	cleanup_free char *kubelet = cluster_status_service(
		"agent 0.1.0\ncontainerd running 2 1794781711 0\n"
		"kubelet backoff 0 1794781711 3\n",
		"kubelet");
	cleanup_free char *missing = cluster_status_service("agent 0.1.0\n", "kubelet");
	cleanup_free char *cut = cluster_status_service("kubelet", "kubelet");

	ASSERT_STR(kubelet, "backoff");
	ASSERT(!missing);
	ASSERT(!cut);
}

TEST(the_exit_status_adds_up_what_is_wrong)
{
	struct node_status nodes[] = {
		{ NULL, "Running", "Running", "Running", "Configured" },
		{ NULL, "Running", "Running", "Irrelevant", "Irrelevant" },
	};
	struct cluster_status status = { nodes, 2 };

	ASSERT_INT(cluster_status_code(&status), 0);
	ASSERT_STR(cluster_status_word(&status), "Running");
	nodes[1].kubelet = "Stopped";
	ASSERT_INT(cluster_status_code(&status), 2);
	ASSERT_STR(cluster_status_word(&status), "Degraded");
	nodes[1].host = "Stopped";
	ASSERT_INT(cluster_status_code(&status), 3);
	nodes[0] = (struct node_status){ NULL, "Stopped", "Stopped", "Stopped", "Stopped" };
	ASSERT_INT(cluster_status_code(&status), 7);
	ASSERT_STR(cluster_status_word(&status), "Stopped");
}
