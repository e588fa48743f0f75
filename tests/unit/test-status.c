#include <sys/wait.h>

#include "base/file.h"
#include "base/strbuf.h"
#include "look/activity.h"
#include "look/defects.h"
#include "look/detail.h"
#include "look/health.h"
#include "look/readiness.h"
#include "look/status.h"
#include "node/trouble.h"
#include "test.h"

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
	.kubeconfig = (node_).control_plane ? "Configured" : "Irrelevant", .readiness = "Ready" }
/* clang-format on */

/* As cluster_status_collect() tells of a node that does not run. */
static void end_node(struct node_status *status, const char *word)
{
	status->host = word;
	status->kubelet = word;
	status->readiness = word;
	if (status->node->control_plane) {
		status->apiserver = word;
		status->kubeconfig = word;
	}
}

TEST(the_exit_status_adds_up_what_is_wrong)
{
	struct node_status nodes[] = { WELL(primary), WELL(worker) };
	struct cluster_status status = { nodes, 2, .kubeconfig = "Configured" };

	ASSERT_INT(cluster_status_code(&status), 0);
	nodes[1].kubelet = "Stopped";
	ASSERT_INT(cluster_status_code(&status), 2);
	end_node(&nodes[1], "Stopped");
	ASSERT_INT(cluster_status_code(&status), 3);
	end_node(&nodes[0], "Stopped");
	ASSERT_INT(cluster_status_code(&status), 3);
	status.kubeconfig = "Nonexistent";
	ASSERT_INT(cluster_status_code(&status), 7);
}

TEST(the_exit_status_tells_of_the_kubeconfig_whatever_runs)
{
	struct node_status nodes[] = { WELL(primary), WELL(second), WELL(third), WELL(worker) };
	struct cluster_status status = { nodes, 4, .kubeconfig = "Configured" };

	end_node(&nodes[0], "Stopped");
	ASSERT_INT(cluster_status_code(&status), 3);
	status.kubeconfig = "Misconfigured";
	ASSERT_INT(cluster_status_code(&status), 7);
	nodes[0] = (struct node_status)WELL(primary);
	ASSERT_INT(cluster_status_code(&status), 4);
	/* Workers have no kubeconfig. */
	ASSERT_INT(cluster_status_code(
			   &(struct cluster_status){ nodes + 3, 1, .kubeconfig = "Nonexistent" }),
		   0);
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
	ASSERT_INT(health_of_cluster(&two, NULL), 204);
	end_node(&nodes[1], "Stopped");
	ASSERT_INT(health_of_cluster(&two, NULL), 500);
	end_node(&nodes[2], "Stopped");
	ASSERT_INT(health_of_cluster(&three, NULL), 500);
	ASSERT_INT(health_of_cluster(&three, "manykube start"), 100);
	ASSERT_INT(health_of_cluster(&three, "manykube node list"), 500);
}

static void assert_quorum_during(const char *busy_with, struct node_status *nodes, size_t count,
				 const char *expected)
{
	struct quorum quorum = health_quorum(&(struct cluster_status){ nodes, count }, busy_with);
	cleanup_free char *words = quorum_words(&quorum);

	ASSERT(strncmp(words, expected, strlen(expected)) == 0);
}

static void assert_quorum(struct node_status *nodes, size_t count, const char *expected)
{
	assert_quorum_during(NULL, nodes, count, expected);
}

TEST(the_arithmetic_of_a_majority_is_told)
{
	struct node_status nodes[] = { WELL(primary), WELL(second), WELL(third), WELL(worker) };

	assert_quorum(nodes, 1, "1 of 1 healthy");
	assert_quorum(nodes, 2, "2 of 2 healthy, tolerates no failure");
	assert_quorum(nodes, 4, "3 of 3 healthy, 1 may fail");
	end_node(&nodes[1], "Stopped");
	assert_quorum(nodes, 4, "2 of 3 healthy, tolerates no failure");
	assert_quorum(nodes, 2, "1 of 2 healthy, 2 needed: 'manykube start'");
	end_node(&nodes[0], "Stopped");
	assert_quorum(nodes, 1, "0 of 1 healthy: 'manykube start'");
}

TEST(api_servers_that_do_not_answer_are_no_lost_members)
{
	struct node_status nodes[] = { WELL(primary), WELL(second), WELL(third) };

	nodes[1].apiserver = nodes[2].apiserver = "Stopped";
	assert_quorum(nodes, 3, "1 of 3 API servers answer");
	ASSERT_INT(health_of_cluster(&(struct cluster_status){ nodes, 3 }, NULL), 204);
	nodes[0].apiserver = "Stopped";
	assert_quorum(nodes, 3, "0 of 3 healthy, 2 needed");
	ASSERT_INT(health_of_cluster(&(struct cluster_status){ nodes, 3 }, NULL), 500);
}

TEST(nobody_is_sent_to_recover_what_is_only_paused)
{
	struct node_status nodes[] = { WELL(primary), WELL(second), WELL(third) };

	end_node(&nodes[0], "Paused");
	assert_quorum(nodes, 1, "0 of 1 healthy: 'manykube unpause'");
	end_node(&nodes[1], "Paused");
	assert_quorum(nodes, 3,
		      "1 of 3 healthy, 2 needed: 'manykube unpause' resumes paused "
		      "nodes");
	end_node(&nodes[2], "Stopped");
	assert_quorum(nodes, 3, "0 of 3 healthy, 2 needed: 'manykube unpause'");
}

static bool recover_is_advised(struct node_status *nodes, size_t count, const char *busy_with)
{
	struct quorum quorum = health_quorum(&(struct cluster_status){ nodes, count }, busy_with);
	cleanup_free char *words = quorum_words(&quorum);

	return strstr(words, "recover");
}

TEST(only_members_that_failed_while_others_run_can_be_lost)
{
	struct node_status nodes[] = { WELL(primary), WELL(second), WELL(third) };

	end_node(&nodes[1], "Stopped");
	end_node(&nodes[2], "Stopped");
	ASSERT(recover_is_advised(nodes, 3, NULL));
	ASSERT(!recover_is_advised(nodes, 3, "manykube start"));
	end_node(&nodes[0], "Stopped");
	ASSERT(!recover_is_advised(nodes, 3, NULL));
	/* One that has never joined has lost nothing. */
	second.phase = third.phase = NODE_PLANNED;
	nodes[0].host = "Running";
	ASSERT(!recover_is_advised(nodes, 3, NULL));
	second.phase = third.phase = NODE_JOINED;
}

TEST(a_control_plane_that_has_left_etcd_is_counted_as_stopped)
{
	struct node_status nodes[] = { WELL(primary), WELL(second), WELL(third) };
	struct quorum quorum;

	end_node(&nodes[1], "Stopped");
	end_node(&nodes[2], "Stopped");
	second.phase = third.phase = NODE_PLANNED;
	assert_quorum(nodes, 3, "1 of 3 healthy, tolerates no failure; 2 are stopped");
	ASSERT_INT(health_of_cluster(&(struct cluster_status){ nodes, 3 }, NULL), 204);
	quorum = health_quorum(&(struct cluster_status){ nodes, 3 }, NULL);
	ASSERT_INT(quorum.members, 1);
	ASSERT_INT(quorum_total(&quorum), 3);
	nodes[2].host = "Running";
	assert_quorum_during("manykube node start", nodes, 3,
			     "1 of 3 healthy, tolerates no failure; 1 is stopped, 1 is joining");
	nodes[0].apiserver = "Stopped";
	assert_quorum(nodes, 3, "0 of 3 healthy, 1 needed: 'manykube start'");
	second.phase = third.phase = NODE_JOINED;
}

TEST(a_control_plane_that_leaves_is_not_said_to_join)
{
	struct node_status nodes[] = { WELL(primary), WELL(second), WELL(third) };

	third.phase = NODE_PLANNED;
	assert_quorum_during("manykube node stop", nodes, 3,
			     "2 of 3 healthy, tolerates no failure; 1 is leaving");
	assert_quorum_during("manykube node delete", nodes, 3,
			     "2 of 3 healthy, tolerates no failure; 1 is leaving");
	assert_quorum_during("manykube node add", nodes, 3,
			     "2 of 3 healthy, tolerates no failure; 1 is joining");
	/* Whoever had it join or leave was interrupted, or does both. */
	assert_quorum(nodes, 3, "2 of 3 healthy, tolerates no failure; 1 is not in etcd");
	assert_quorum_during("manykube apply", nodes, 3,
			     "2 of 3 healthy, tolerates no failure; 1 is not in etcd");
	/* Its deletion can only be finished. */
	third.phase = NODE_LEAVING;
	assert_quorum(nodes, 3, "2 of 3 healthy, tolerates no failure; 1 is leaving");
	end_node(&nodes[2], "Stopped");
	assert_quorum(nodes, 3, "2 of 3 healthy, tolerates no failure; 1 is leaving");
	third.phase = NODE_JOINED;
}

TEST(a_node_that_the_api_calls_not_ready_degrades_a_cluster)
{
	struct node_status nodes[] = { WELL(primary), WELL(worker) };
	struct cluster_status status = { nodes, 2 };

	nodes[1].readiness = "NotReady";
	ASSERT_INT(health_of_cluster(&status, NULL), 204);
	ASSERT_INT(health_of_node(&nodes[1]), 500);
	ASSERT_INT(health_of_parts(&nodes[1]), 200);
	ASSERT_INT(cluster_status_code(&status), 8);
	nodes[1].readiness = "Unknown";
	ASSERT_INT(health_of_cluster(&status, NULL), 204);
	ASSERT_INT(cluster_status_code(&status), 8);
	nodes[0].apiserver = "Stopped";
	ASSERT_INT(cluster_status_code(&status), 2);
	nodes[0].apiserver = "Running";
	nodes[1].readiness = "Starting";
	ASSERT_INT(health_of_cluster(&status, NULL), 200);
	ASSERT_INT(cluster_status_code(&status), 0);
	/* As with --cni=none: the control plane works. */
	nodes[0].readiness = nodes[1].readiness = "NotReady";
	ASSERT_INT(health_of_cluster(&status, NULL), 204);
	assert_quorum(nodes, 2, "1 of 1 healthy");
}

TEST(pressure_degrades_a_cluster)
{
	struct node_status nodes[] = { WELL(primary), WELL(worker) };
	struct cluster_status status = { nodes, 2 };

	nodes[1].pressure = (char *)"DiskPressure";
	ASSERT_INT(health_of_cluster(&status, NULL), 204);
	ASSERT_INT(health_of_node(&nodes[1]), 204);
	ASSERT_INT(cluster_status_code(&status), 8);
}

static void assert_defects(const struct profile *profile, struct node_status *nodes, size_t count,
			   const char *expected)
{
	cleanup_with(strlist_release) struct strlist defects = STRLIST_INIT;
	cleanup_free char *lines = NULL;

	defects_list(profile, &(struct cluster_status){ nodes, count }, &defects);
	lines = strlist_join(&defects, "\n");
	ASSERT_STR(lines, expected);
}

TEST(each_defect_is_a_line_with_what_to_do)
{
	struct node_status nodes[] = { WELL(primary), WELL(worker) };
	struct profile profile = { .dir = (char *)"/home/c", .cni = (char *)"auto" };

	assert_defects(&profile, nodes, 2, "");
	nodes[1].pressure = (char *)"DiskPressure,PIDPressure";
	nodes[1].why = (char *)"DiskPressure: it is full";
	assert_defects(&profile, nodes, 2,
		       "node 'w' reports DiskPressure: it is full; free space on the file system "
		       "of '/home/c', which it shares");
	worker.disk_bytes = 1;
	assert_defects(&profile, nodes, 2,
		       "node 'w' reports DiskPressure: it is full; remove images or files from its "
		       "disk, or enlarge it with 'manykube node set w --disk-size=SIZE'");
	worker.disk_bytes = 0;
	nodes[1].pressure = NULL;
	nodes[1].kubelet = "Stopped";
	nodes[1].readiness = "NotReady";
	nodes[1].why = (char *)"its kubelet does not run";
	assert_defects(&profile, nodes, 2,
		       "node 'w' is NotReady: its kubelet does not run; see 'manykube logs w'");
	end_node(&nodes[0], "Stopped");
	end_node(&nodes[1], "Stopped");
	worker.phase = NODE_LEAVING;
	assert_defects(&profile, nodes, 2,
		       "node 'a' is not running: 'manykube node start a' starts it\n"
		       "the deletion of node 'w' was interrupted: delete it again to finish");
	worker.phase = NODE_PLANNED;
}

TEST(a_network_that_is_the_users_to_install_is_no_defect)
{
	struct node_status nodes[] = { WELL(worker) };
	struct profile profile = { .cni = (char *)"none" };

	nodes[0].readiness = "NotReady";
	nodes[0].why = (char *)"reason:NetworkPluginNotReady";
	assert_defects(&profile, nodes, 1, "");
	profile.cni = (char *)"auto";
	assert_defects(&profile, nodes, 1,
		       "node 'w' is NotReady: reason:NetworkPluginNotReady; see 'manykube logs w'");
}

TEST(a_front_door_that_leads_nowhere_degrades_a_cluster)
{
	struct node_status nodes[] = { WELL(primary) };
	struct cluster_status status = { nodes, 1, .front_door = "Running" };

	ASSERT_INT(health_of_cluster(&status, NULL), 200);
	status.front_door = "Stopped";
	ASSERT_INT(health_of_cluster(&status, NULL), 204);
	ASSERT_INT(cluster_status_code(&status), 2);
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
	nodes[0].readiness = nodes[1].readiness = "Paused";
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

TEST(a_command_at_work_is_not_said_to_do_what_an_earlier_one_did)
{
	cleanup_free char *home = xstrdup(test_dir());
	cleanup_free char *dir = xasprintf("%s/profiles/dev", home);
	cleanup_free char *logs = xasprintf("%s/logs", dir);
	cleanup_free char *path = xasprintf("%s/events.json", logs);
	const struct profile profile = { .name = (char *)"dev", .dir = dir };
	cleanup_with(activity_release) struct activity earlier = ACTIVITY_INIT;
	cleanup_with(activity_release) struct activity own = ACTIVITY_INIT;
	cleanup_fd int lock = -1;
	pid_t reader;
	int status;

	ASSERT(setenv("MANYKUBE_HOME", home, true) == 0);
	ASSERT_OK(file_make_dirs(logs, 0755, &err));
	ASSERT_OK(file_put(path, STEP("one"), strlen(STEP("one")), 0644, &err));
	usleep(20 * 1000);
	ASSERT_OK(profile_lock("dev", "manykube node delete", &lock, &err));
	/* The lock is not taken for the process that holds it. */
	reader = fork();
	if (reader == 0) {
		activity_read(&profile, &earlier);
		if (!text_is(earlier.busy_with, "manykube node delete") || earlier.step)
			_exit(1);
		usleep(20 * 1000);
		if (file_put(path, STEP("two"), strlen(STEP("two")), 0644, NULL) < 0)
			_exit(2);
		activity_read(&profile, &own);
		_exit(text_is(own.step, "two") ? 0 : 3);
	}
	ASSERT(waitpid(reader, &status, 0) == reader);
	ASSERT_INT(WEXITSTATUS(status), 0);
}

#define TIMED_OUT(names)                                         \
	STEP("Waiting for nodes")                                \
	"{\"type\":\"io.manykube.error\",\"data\":{\"message\":" \
	"\"timed out waiting for nodes: " names "\"}}\n"

static void assert_settled(const char *events, struct node_status *nodes, size_t count,
			   const char *expected)
{
	cleanup_with(activity_release) struct activity activity = ACTIVITY_INIT;

	activity_parse(events, &activity);
	activity_settle(&activity, &(struct cluster_status){ nodes, count });
	if (expected)
		ASSERT_STR(activity.failure, expected);
	else
		ASSERT(!activity.failure && !activity.step);
}

TEST(a_failure_to_wait_for_nodes_ends_with_the_nodes)
{
	struct node_status nodes[] = { WELL(primary), WELL(second), WELL(worker) };

	nodes[1].readiness = "NotReady";
	assert_settled(TIMED_OUT("w"), nodes, 3, NULL);
	assert_settled(TIMED_OUT("gone"), nodes, 3, NULL);
	assert_settled(TIMED_OUT("w, b"), nodes, 3, "timed out waiting for nodes: w, b");
	assert_settled(TIMED_OUT("no answer: refused"), nodes, 3,
		       "timed out waiting for nodes: no answer: refused");
	assert_settled(ERROR_EVENT, nodes, 3, "no room");
	nodes[1].readiness = "Ready";
	assert_settled(ERROR_EVENT, nodes, 3, NULL);
}

#define NOT_STARTED(name)                                        \
	STEP("Starting node " name)                              \
	"{\"type\":\"io.manykube.error\",\"data\":{\"message\":" \
	"\"cannot start node '" name "': no memory\"}}\n"

TEST(a_failure_to_start_a_node_ends_with_the_node)
{
	struct node_status nodes[] = { WELL(primary), WELL(second), WELL(worker) };

	nodes[1].readiness = "NotReady";
	assert_settled(NOT_STARTED("gone"), nodes, 3, NULL);
	assert_settled(NOT_STARTED("w"), nodes, 3, NULL);
	assert_settled(NOT_STARTED("b"), nodes, 3, "cannot start node 'b': no memory");
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
	json_auto_t *list = json_pack("{s:[o, o]}", "items", node_object("a", "True", true),
				      node_object("w", "False", false));
	struct cluster_status status = { nodes, 2, .api_nodes = list };
	cleanup_with(cluster_detail_release) struct cluster_detail detail = CLUSTER_DETAIL_INIT;
	json_auto_t *pods = pod_table();

	readiness_read(&status, list, NULL);
	cluster_detail_read(&status, pods, &detail);
	ASSERT_STR(detail.nodes[0].state, "Ready");
	ASSERT(detail.nodes[0].cordoned && !detail.nodes[0].why);
	ASSERT_INT(detail.nodes[0].pods, 2);
	ASSERT_INT(detail.nodes[0].created, 1769860800);
	ASSERT_STR(detail.nodes[0].version, "v1.36.4");
	ASSERT_STR(detail.nodes[1].state, "NotReady");
	ASSERT_STR(detail.nodes[1].why, "the reason");
	ASSERT_INT(detail.nodes[1].pods, 0);
	free(nodes[1].why);
}

TEST(a_node_that_the_api_does_not_know_is_not_ready)
{
	struct node_status nodes[] = { WELL(primary), WELL(worker) };
	struct cluster_status status = { nodes, 2 };
	json_auto_t *list = json_pack("{s:[o]}", "items", node_object("a", "True", false));

	readiness_read(&status, list, NULL);
	ASSERT_STR(nodes[0].readiness, "Ready");
	ASSERT_STR(nodes[1].readiness, "NotReady");
	ASSERT_STR(nodes[1].why, "it has not joined the cluster");
	/* In its first seconds it is on its way. */
	readiness_read(&status, list, "manykube node add");
	ASSERT_STR(nodes[1].readiness, "Starting");
	free(nodes[1].why);
}

TEST(pressure_is_read_from_the_conditions_of_a_node)
{
	struct node_status nodes[] = { WELL(primary) };
	struct cluster_status status = { nodes, 1 };
	json_auto_t *list = json_pack(
		"{s:[{s:{s:s}, s:{s:[{s:s, s:s}, {s:s, s:s, s:s}, {s:s, s:s}, {s:s, s:s}]}}]}",
		"items", "metadata", "name", "a", "status", "conditions", "type", "Ready", "status",
		"True", "type", "MemoryPressure", "status", "True", "message", "too little", "type",
		"DiskPressure", "status", "False", "type", "PIDPressure", "status", "True");

	readiness_read(&status, list, NULL);
	ASSERT_STR(nodes[0].readiness, "Ready");
	ASSERT_STR(nodes[0].pressure, "MemoryPressure,PIDPressure");
	ASSERT_STR(nodes[0].why, "MemoryPressure: too little");
	ASSERT(!readiness_is_well(&nodes[0]));
	free(nodes[0].pressure);
	free(nodes[0].why);
}

static void assert_readiness(struct node_status *node, const char *readiness, const char *why)
{
	ASSERT_STR(node->readiness, readiness);
	if (why)
		ASSERT_STR(node->why, why);
	free(take_ptr(node->why));
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
	readiness_read(&status, NULL, NULL);
	cluster_detail_read(&status, NULL, &detail);
	ASSERT_INT(detail.nodes[0].pods, -1);
	ASSERT_INT(detail.nodes[0].created, -1);
	ASSERT_STR(detail.nodes[1].version, "v1.36.3");
	ASSERT_STR(detail.nodes[3].state, "Absent");
	assert_readiness(&nodes[0], "NotReady", "its API server does not answer");
	assert_readiness(&nodes[1], "Stopped", "it is not running");
	assert_readiness(&nodes[2], "Paused", NULL);
	assert_readiness(&nodes[3], "Nonexistent", NULL);
}

TEST(a_service_that_hangs_is_told_whatever_the_api_says)
{
	struct node_status nodes[] = { WELL(primary), WELL(worker) };
	struct cluster_status status = { nodes, 2, .kubeconfig = "Configured" };

	nodes[0].apiserver = "Unresponsive";
	ASSERT_INT(cluster_status_code(&status), 2);
	ASSERT_INT(health_of_node(&nodes[0]), HEALTH_ERROR);
	readiness_read(&status, NULL, NULL);
	assert_readiness(&nodes[0], "NotReady", "its API server does not answer");
	free(take_ptr(nodes[1].why));
	nodes[0] = (struct node_status)WELL(primary);
	nodes[1].broken = "containerd";
	nodes[1].broken_word = "Unresponsive";
	ASSERT_INT(cluster_status_code(&status), 2);
	ASSERT_INT(health_of_node(&nodes[1]), HEALTH_ERROR);
	ASSERT_INT(health_of_cluster(&status, NULL), HEALTH_DEGRADED);
	readiness_read(&status, NULL, NULL);
	assert_readiness(&nodes[1], "NotReady", "its containerd does not answer");
	nodes[1].broken_word = "Stopped";
	readiness_read(&status, NULL, NULL);
	assert_readiness(&nodes[1], "NotReady", "its containerd is not running");
	free(take_ptr(nodes[0].why));
}

TEST(a_node_that_was_only_registered_is_no_defect)
{
	struct node spare = { .name = (char *)"spare", .phase = NODE_PLANNED };
	struct node_status nodes[] = { WELL(primary), WELL(spare) };
	struct cluster_status status = { nodes, 2, .kubeconfig = "Configured" };

	end_node(&nodes[1], "Nonexistent");
	ASSERT_INT(cluster_status_code(&status), 0);
	ASSERT_INT(health_of_cluster(&status, NULL), HEALTH_OK);
	spare.phase = NODE_JOINED;
	ASSERT_INT(cluster_status_code(&status), 3);
	ASSERT_INT(health_of_cluster(&status, NULL), HEALTH_DEGRADED);
}

TEST(a_cluster_that_is_half_upgraded_or_half_deleted_is_degraded)
{
	struct profile profile = { .name = (char *)"dev" };

	ASSERT_INT(health_if_finished(&profile, HEALTH_HAPPY), HEALTH_HAPPY);
	profile.upgrading_from = (char *)"v1.35.4";
	ASSERT_INT(health_if_finished(&profile, HEALTH_OK), HEALTH_DEGRADED);
	ASSERT_INT(health_if_finished(&profile, HEALTH_ERROR), HEALTH_ERROR);
	profile.upgrading_from = NULL;
	profile.deleting = true;
	ASSERT_INT(health_if_finished(&profile, HEALTH_OK), HEALTH_DEGRADED);
	ASSERT_INT(health_if_finished(&profile, HEALTH_STOPPED), HEALTH_STOPPED);
}

TEST(what_may_not_be_asked_is_not_called_wrong)
{
	struct node_status nodes[] = { WELL(primary), WELL(worker) };
	struct cluster_status status = { nodes, 2 };

	nodes[0].apiserver = "Unknown";
	status.cannot_ask = (char *)"the kubeconfig is gone";
	readiness_read(&status, NULL, NULL);
	assert_readiness(&nodes[0], "Unknown", "the kubeconfig is gone");
	assert_readiness(&nodes[1], "Unknown", "the kubeconfig is gone");
}

TEST(during_a_start_nodes_are_on_their_way)
{
	struct node_status nodes[] = { WELL(primary), WELL(worker) };
	struct cluster_status status = { nodes, 2 };

	nodes[0].kubelet = "Stopped";
	end_node(&nodes[1], "Nonexistent");
	readiness_read(&status, NULL, "manykube start");
	assert_readiness(&nodes[0], "Starting", NULL);
	assert_readiness(&nodes[1], "Starting", NULL);
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
