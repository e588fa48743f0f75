#include "cluster/activity.h"
#include "cluster/detail.h"
#include "cluster/health.h"
#include "cluster/status.h"
#include "cluster/trouble.h"
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

static struct node primary = { .name = (char *)"a", .control_plane = true, .primary = true };
static struct node second = { .name = (char *)"b", .control_plane = true, .phase = NODE_JOINED };
static struct node third = { .name = (char *)"c", .control_plane = true, .phase = NODE_JOINED };
static struct node worker = { .name = (char *)"w",
			      .kubernetes_version = (char *)"v1.36.3",
			      .worker = true };

/* clang-format off */
#define WELL(node_) { \
	.node = &(node_), .host = "Running", .kubelet = "Running", \
	.apiserver = (node_).control_plane ? "Running" : "Irrelevant", \
	.kubeconfig = (node_).control_plane ? "Configured" : "Irrelevant" }
/* clang-format on */

/* As cluster_status_collect() tells of a node that does not run. */
static void end_node(struct node_status *status, const char *word)
{
	status->host = word;
	status->kubelet = word;
	if (status->node->control_plane) {
		status->apiserver = word;
		status->kubeconfig = word;
	}
}

TEST(the_exit_status_adds_up_what_is_wrong)
{
	struct node_status nodes[] = { WELL(primary), WELL(worker) };
	struct cluster_status status = { nodes, 2 };

	ASSERT_INT(cluster_status_code(&status), 0);
	nodes[1].kubelet = "Stopped";
	ASSERT_INT(cluster_status_code(&status), 2);
	end_node(&nodes[1], "Stopped");
	ASSERT_INT(cluster_status_code(&status), 3);
	end_node(&nodes[0], "Stopped");
	ASSERT_INT(cluster_status_code(&status), 7);
}

TEST(one_control_plane_is_ok_three_are_happy)
{
	struct node_status nodes[] = { WELL(primary), WELL(second), WELL(third), WELL(worker) };

	ASSERT_INT(health_of_cluster(&(struct cluster_status){ nodes, 1 }, NULL), 200);
	ASSERT_INT(health_of_cluster(&(struct cluster_status){ nodes, 2 }, NULL), 200);
	ASSERT_INT(health_of_cluster(&(struct cluster_status){ nodes, 4 }, NULL), 201);
	ASSERT_STR(health_name(HEALTH_HAPPY), "HAppy");
	ASSERT_STR(health_word(HEALTH_HAPPY), "Running");
	ASSERT_STR(health_word(HEALTH_DEGRADED), "Degraded");
}

TEST(the_majority_of_control_planes_carries_the_cluster)
{
	struct node_status nodes[] = { WELL(primary), WELL(second), WELL(third), WELL(worker) };
	struct cluster_status three = { nodes, 4 };
	struct cluster_status two = { nodes, 2 };

	nodes[1].apiserver = "Stopped";
	ASSERT_INT(health_of_cluster(&three, NULL), 204);
	ASSERT_INT(health_of_cluster(&two, NULL), 500);
	end_node(&nodes[2], "Stopped");
	ASSERT_INT(health_of_cluster(&three, NULL), 500);
	ASSERT_INT(health_of_cluster(&three, "manykube start"), 100);
	ASSERT_INT(health_of_cluster(&three, "manykube node list"), 500);
}

static void assert_quorum(struct node_status *nodes, size_t count, const char *expected)
{
	struct quorum quorum = health_quorum(&(struct cluster_status){ nodes, count });
	cleanup_free char *words = quorum_words(&quorum);

	ASSERT(strncmp(words, expected, strlen(expected)) == 0);
}

TEST(the_arithmetic_of_a_majority_is_told)
{
	struct node_status nodes[] = { WELL(primary), WELL(second), WELL(third), WELL(worker) };

	assert_quorum(nodes, 1, "1 of 1 healthy");
	assert_quorum(nodes, 2, "2 of 2 healthy, none may fail");
	assert_quorum(nodes, 4, "3 of 3 healthy, 1 may fail");
	end_node(&nodes[1], "Stopped");
	assert_quorum(nodes, 4, "2 of 3 healthy, none may fail");
	assert_quorum(nodes, 2, "1 of 2 healthy, and 2 are needed: 'manykube start'");
	end_node(&nodes[0], "Stopped");
	assert_quorum(nodes, 1, "0 of 1 healthy: 'manykube start'");
}

TEST(nobody_is_sent_to_recover_what_is_only_paused)
{
	struct node_status nodes[] = { WELL(primary), WELL(second), WELL(third) };

	end_node(&nodes[0], "Paused");
	assert_quorum(nodes, 1, "0 of 1 healthy: 'manykube unpause'");
	end_node(&nodes[1], "Paused");
	assert_quorum(nodes, 3,
		      "1 of 3 healthy, and 2 are needed: 'manykube unpause' lets what is paused "
		      "go on");
	end_node(&nodes[2], "Stopped");
	assert_quorum(nodes, 3, "0 of 3 healthy, and 2 are needed: 'manykube unpause'");
}

TEST(a_control_plane_that_has_left_is_not_counted)
{
	struct node_status nodes[] = { WELL(primary), WELL(second) };

	end_node(&nodes[1], "Stopped");
	second.phase = NODE_PLANNED;
	assert_quorum(nodes, 2, "1 of 1 healthy");
	ASSERT_INT(health_of_cluster(&(struct cluster_status){ nodes, 2 }, NULL), 204);
	second.phase = NODE_JOINED;
}

TEST(a_worker_that_is_down_degrades_a_cluster)
{
	struct node_status nodes[] = { WELL(primary), WELL(worker) };
	struct cluster_status status = { nodes, 2 };

	end_node(&nodes[1], "Stopped");
	ASSERT_INT(health_of_cluster(&status, NULL), 204);
	ASSERT_INT(health_of_node(&nodes[1]), 405);
	end_node(&nodes[0], "Nonexistent");
	ASSERT_INT(health_of_cluster(&status, NULL), 405);
	end_node(&nodes[1], "Nonexistent");
	ASSERT_INT(health_of_cluster(&status, NULL), 404);
}

TEST(a_paused_cluster_is_neither_stopped_nor_wrong)
{
	struct node_status nodes[] = { WELL(primary), WELL(worker) };
	struct cluster_status status = { nodes, 2 };

	nodes[0].kubelet = nodes[0].apiserver = nodes[1].kubelet = "Paused";
	ASSERT_INT(health_of_cluster(&status, NULL), 418);
	ASSERT_INT(cluster_status_code(&status), 2);
}

TEST(who_may_not_ask_does_not_know)
{
	struct node_status nodes[] = { WELL(primary) };

	nodes[0].apiserver = "Unknown";
	ASSERT_INT(health_of_cluster(&(struct cluster_status){ nodes, 1 }, NULL), 520);
	ASSERT_STR(health_name(HEALTH_UNKNOWN), "Unknown");
}

#define STEP(name)                                                                               \
	"{\"type\":\"io.manykube.step\",\"data\":{\"name\":\"" name "\",\"message\":\"now " name \
	"\"}}\n"
#define ERROR_EVENT "{\"type\":\"io.manykube.error\",\"data\":{\"message\":\"no room\"}}\n"

TEST(events_tell_the_last_step_and_what_failed_since)
{
	cleanup_with(activity_release) struct activity failed = ACTIVITY_INIT;
	cleanup_with(activity_release) struct activity went_on = ACTIVITY_INIT;

	activity_parse(STEP("one") "no event\n{}\n[1]\n" STEP("two") ERROR_EVENT, &failed);
	ASSERT_STR(failed.step, "two");
	ASSERT_STR(failed.step_detail, "now two");
	ASSERT_STR(failed.failure, "no room");
	activity_parse(ERROR_EVENT STEP("one"), &went_on);
	ASSERT_STR(went_on.step, "one");
	ASSERT(!went_on.failure);
}

static json_t *node_object(const char *name, const char *ready, bool cordoned)
{
	return json_pack("{s:{s:s, s:s}, s:{s:b}, s:{s:{s:s}, s:[{s:s, s:s, s:s}]}}", "metadata",
			 "name", name, "creationTimestamp", "2026-01-31T12:00:00Z", "spec",
			 "unschedulable", cordoned, "status", "nodeInfo", "kubeletVersion",
			 "v1.36.4", "conditions", "type", "Ready", "status", ready, "message",
			 "the reason");
}

static json_t *pod_table(void)
{
	return json_pack("{s:[{s:s}, {s:s}], s:[{s:[s, s]}, {s:[s, s]}, {s:[s]}, {s:[s, n]}]}",
			 "columnDefinitions", "name", "Name", "name", "Node", "rows", "cells", "p",
			 "a", "cells", "q", "a", "cells", "cut", "cells", "pending");
}

TEST(the_api_tells_of_nodes_what_a_person_wants_to_know)
{
	struct node_status nodes[] = { WELL(primary), WELL(worker) };
	struct cluster_status status = { nodes, 2 };
	cleanup_with(cluster_detail_release) struct cluster_detail detail = CLUSTER_DETAIL_INIT;
	json_auto_t *list = json_pack("{s:[o, o]}", "items", node_object("a", "True", true),
				      node_object("w", "False", false));
	json_auto_t *pods = pod_table();

	cluster_detail_read(&status, NULL, list, pods, &detail);
	ASSERT_STR(detail.nodes[0].state, "Ready");
	ASSERT(detail.nodes[0].cordoned && !detail.nodes[0].why);
	ASSERT_INT(detail.nodes[0].pods, 2);
	ASSERT_INT(detail.nodes[0].created, 1769860800);
	ASSERT_STR(detail.nodes[0].version, "v1.36.4");
	ASSERT_STR(detail.nodes[1].state, "NotReady");
	ASSERT_STR(detail.nodes[1].why, "the reason");
	ASSERT_INT(detail.nodes[1].pods, 0);
}

TEST(without_the_api_there_is_what_the_host_knows)
{
	struct node_status nodes[] = { WELL(primary), WELL(worker), WELL(second), WELL(third) };
	struct cluster_status status = { nodes, 4 };
	cleanup_with(cluster_detail_release) struct cluster_detail detail = CLUSTER_DETAIL_INIT;

	nodes[0].apiserver = "Stopped";
	end_node(&nodes[1], "Stopped");
	nodes[2].kubelet = nodes[2].apiserver = "Paused";
	end_node(&nodes[3], "Nonexistent");
	cluster_detail_read(&status, NULL, NULL, NULL, &detail);
	ASSERT_STR(detail.nodes[0].state, "NotReady");
	ASSERT_STR(detail.nodes[0].why, "its API server does not answer");
	ASSERT_INT(detail.nodes[0].pods, -1);
	ASSERT_INT(detail.nodes[0].created, -1);
	ASSERT_STR(detail.nodes[1].state, "Stopped");
	ASSERT_STR(detail.nodes[1].version, "v1.36.3");
	ASSERT_STR(detail.nodes[2].state, "Paused");
	ASSERT_STR(detail.nodes[3].state, "Absent");
}

TEST(what_may_not_be_asked_is_not_called_wrong)
{
	struct node_status nodes[] = { WELL(primary), WELL(worker) };
	struct cluster_status status = { nodes, 2 };
	cleanup_with(cluster_detail_release) struct cluster_detail detail = CLUSTER_DETAIL_INIT;

	nodes[0].apiserver = "Unknown";
	cluster_detail_read(&status, NULL, NULL, NULL, &detail);
	ASSERT_STR(detail.nodes[0].state, "Unknown");
	ASSERT_STR(detail.nodes[1].state, "Unknown");
}

TEST(during_a_start_nodes_are_on_their_way)
{
	struct node_status nodes[] = { WELL(primary), WELL(worker) };
	struct cluster_status status = { nodes, 2 };
	cleanup_with(cluster_detail_release) struct cluster_detail detail = CLUSTER_DETAIL_INIT;

	nodes[0].kubelet = "Stopped";
	end_node(&nodes[1], "Nonexistent");
	cluster_detail_read(&status, "manykube start", NULL, NULL, &detail);
	ASSERT_STR(detail.nodes[0].state, "Starting");
	ASSERT_STR(detail.nodes[1].state, "Starting");
}

TEST(a_kubelet_that_ends_again_and_again_is_told_from_one_that_was_killed)
{
	static const char failing[] =
		"agent v1\ncontainerd running 5 10 0\nkubelet backoff 0 20 6\n";
	static const char fine[] = "agent v1\ncontainerd running 5 10 0\nkubelet running 9 20 6\n";

	ASSERT_INT(trouble_restarts(failing, "kubelet"), 6);
	ASSERT_INT(trouble_restarts(failing, "containerd"), 0);
	ASSERT_INT(trouble_restarts(fine, "kubelet"), 0);
	ASSERT_INT(trouble_restarts("kubelet backoff 0 20 x\n", "kubelet"), 0);
	ASSERT_INT(trouble_restarts("", "kubelet"), 0);
}

TEST(a_kubelets_last_words_are_found_in_its_log)
{
	cleanup_free char *words = trouble_last_words(
		"I0101 1 a.go:1] fine err=not this\n"
		"E0101 1 run.go:72] \"command failed\" err=\"unrecognized feature gate: Foo\"\n"
		"I0101 1 b.go:1] bye\n");
	cleanup_free char *panicked = trouble_last_words("panic: oh\ngoroutine 1\n");

	ASSERT_STR(words, "\"unrecognized feature gate: Foo\"");
	ASSERT_STR(panicked, "panic: oh");
	ASSERT(!trouble_last_words("nothing\n"));
}
