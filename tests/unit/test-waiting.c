/* What a start waits for, and what it repairs before, in a fake world. */

#include "base/file.h"
#include "cluster/apply.h"
#include "cluster/cluster.h"
#include "describe/file.h"
#include "look/status.h"
#include "node/trouble.h"
#include <arpa/inet.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "fake-files.h"
#include "fake-world.h"
#include "record/options.h"
#include "record/world.h"
#include "rounds.h"
#include "test.h"

static struct cluster_outcome outcome;

static int start_with(struct cluster_options options)
{
	options.kubernetes_version = "v1.36.3";
	options.wait = options.wait ? options.wait : WAIT_API | WAIT_NODES;
	options.wait_seconds = options.wait_seconds ? options.wait_seconds : 20;
	return cluster_start("test", &options, NULL, &outcome, NULL);
}

static int start_named(const char *name)
{
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;

	strlist_add(&names, name);
	return start_with((struct cluster_options){ .only = &names });
}

static int add_node(const char *name)
{
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	const struct node_options node = { .name = name };

	return start_with((struct cluster_options){ .add = &node, .add_count = 1, .only = &names });
}

static void stop_named(const char *name)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;

	strlist_add(&names, name);
	ASSERT_OK(profile_load("test", &profile, &err));
	ASSERT_INT(cluster_stop_nodes(&profile, &names, NULL, NULL), 1);
}

static void make_three(void)
{
	free(begin_round(0));
	ASSERT_INT(start_with((struct cluster_options){ .nodes = 3 }), 0);
}

/* The history of nodes ends so. */
static void assert_history_ends(const char *end)
{
	cleanup_free char *history = fake_world_history();

	ASSERT(strlen(history) >= strlen(end));
	ASSERT_STR(history + strlen(history) - strlen(end), end);
}

TEST(a_sick_node_keeps_nobody_else_waiting)
{
	make_three();
	stop_named("node-2");
	fake_world_add("sick:node-3");
	ASSERT_INT(start_named("node-2"), 0);
	ASSERT_INT(add_node("more"), 0);
}

TEST(who_starts_all_nodes_or_the_sick_one_waits_for_it)
{
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;

	make_three();
	fake_world_add("sick:node-3");
	strlist_add(&names, "node-3");
	ASSERT_INT(start_with((struct cluster_options){ .wait_seconds = 1 }), -ETIMEDOUT);
	ASSERT_INT(start_with((struct cluster_options){ .only = &names, .wait_seconds = 1 }),
		   -ETIMEDOUT);
}

TEST(who_trusts_nodes_that_run_waits_only_for_others)
{
	make_three();
	fake_world_add("sick:node-3");
	ASSERT_INT(start_with((struct cluster_options){ .trust_running = true }), 0);
	stop_named("node-3");
	ASSERT_INT(start_with((struct cluster_options){ .trust_running = true, .wait_seconds = 1 }),
		   -ETIMEDOUT);
}

TEST(other_nodes_that_are_not_ready_are_found_unless_they_are_stopped_or_paused)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_with(strlist_release) struct strlist about = STRLIST_INIT;
	cleanup_with(strlist_release) struct strlist others = STRLIST_INIT;
	cleanup_with(strlist_release) struct strlist bare = STRLIST_INIT;
	cleanup_free char *names = NULL;

	make_three();
	ASSERT_INT(add_node("fourth"), 0);
	ASSERT_INT(add_node("fifth"), 0);
	ASSERT_OK(profile_load("test", &profile, &err));
	fake_world_add("sick:node-2");
	fake_world_add("sick:node-3");
	fake_world_add("sick:fourth");
	fake_world_add("sick:fifth");
	fake_world_add("frozen:fourth");
	stop_named("fifth");
	strlist_add(&about, "node-2");
	ASSERT_OK(cluster_find_unready(&profile, &about, &others, &bare, &err));
	names = strlist_join(&others, " ");
	ASSERT_STR(names, "node-3");
	ASSERT_INT(bare.count, 0);
	ASSERT_OK(cluster_find_unready(&profile, NULL, &others, &bare, &err));
	ASSERT_INT(others.count, 1);
}

TEST(a_start_repairs_what_hangs)
{
	make_three();
	fake_world_add("hung-kubelet:node-2");
	fake_world_add("hung-containerd:node-3");
	ASSERT_INT(start_with((struct cluster_options){ .nodes = 0 }), 0);
	ASSERT_INT(outcome.repaired, 2);
	ASSERT_INT(outcome.started, 0);
	assert_history_ends("; restart programs of node-2 v1.36.3; restart programs of node-3 "
			    "v1.36.3");
	ASSERT_INT(start_with((struct cluster_options){ .nodes = 0 }), 0);
	ASSERT_INT(outcome.repaired, 0);
}

TEST(a_start_repairs_static_pods_that_hang_instead_of_waiting_for_the_kubelet)
{
	static const char *const hung[] = { "hung-etcd:node-1", "hung-kube-apiserver:node-1",
					    "hung-kube-controller:node-1",
					    "hung-kube-scheduler:node-1" };

	make_three();
	for (size_t i = 0; i < ARRAY_SIZE(hung); i++) {
		fake_world_add(hung[i]);
		ASSERT_INT(start_with((struct cluster_options){ .nodes = 0 }), 0);
		ASSERT_INT(outcome.repaired, 1);
		assert_history_ends("; restart programs of node-1 v1.36.3");
	}
	/* Workers have none. */
	fake_world_add("hung-etcd:node-2");
	ASSERT_INT(start_with((struct cluster_options){ .nodes = 0 }), 0);
	ASSERT_INT(outcome.repaired, 0);
}

TEST(the_status_knows_what_a_start_would_repair)
{
	cleanup_with(cluster_status_release) struct cluster_status status = CLUSTER_STATUS_INIT;
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;

	make_three();
	fake_world_add("hung-kube-scheduler:node-1");
	fake_world_add("hung-containerd:node-3");
	ASSERT_OK(profile_load("test", &profile, &err));
	ASSERT_OK(cluster_status_collect(&profile, NULL, &status, &err));
	ASSERT_STR(status.nodes[0].broken, "kube-scheduler");
	ASSERT(!status.nodes[1].broken);
	ASSERT_STR(status.nodes[2].broken, "containerd");
	ASSERT_STR(status.nodes[2].broken_word, "Unresponsive");
}

TEST(a_report_from_before_the_restart_of_a_kubelet_does_not_count)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	const bool all[] = { true, true, true };
	const bool none[] = { false, false, false };
	int64_t since_ms[] = { clock_wall_ms(), clock_wall_ms(), clock_wall_ms() };
	const struct cluster_restart restart = { all, none, all, since_ms };

	make_three();
	ASSERT_OK(profile_load("test", &profile, &err));
	ASSERT_OK(cluster_wait(&profile, WAIT_NODES, &restart, 1, NULL, &err));
	/* As if its kubelet had been restarted later than it has reported. */
	since_ms[1] += 600 * 1000;
	ASSERT_INT(cluster_wait(&profile, WAIT_NODES, &restart, 1, NULL, &why), -ETIMEDOUT);
	ASSERT(strstr(why.text, "timed out waiting for nodes: node-2"));
}

TEST(a_start_restarts_nodes_that_have_lost_their_programs)
{
	make_three();
	fake_world_add("no-programs:node-1");
	fake_world_add("no-programs:node-3");
	ASSERT_INT(start_with((struct cluster_options){ .nodes = 0 }), 0);
	ASSERT_INT(outcome.started, 2);
	assert_history_ends("; start node-1 v1.36.3; start node-3 v1.36.3");
	ASSERT_INT(start_with((struct cluster_options){ .nodes = 0 }), 0);
	ASSERT_INT(outcome.started, 0);
	/* A command about another node leaves it alone. */
	fake_world_add("no-programs:node-3");
	ASSERT_INT(start_named("node-2"), 0);
	ASSERT_INT(outcome.started, 0);
}

TEST(a_start_restarts_a_front_door_that_hangs)
{
	make_three();
	fake_world_add("hung:front-door");
	ASSERT_INT(start_with((struct cluster_options){ .nodes = 0 }), 0);
	ASSERT_INT(outcome.repaired, 1);
	ASSERT_INT(outcome.started, 0);
	fake_world_add("hung:front-door");
	ASSERT_INT(start_named("node-2"), 0);
	ASSERT_INT(outcome.repaired, 1);
	ASSERT_INT(start_with((struct cluster_options){ .nodes = 0 }), 0);
	ASSERT_INT(outcome.repaired, 0);
}

TEST(a_front_door_is_repaired_although_the_payload_is_gone)
{
	cleanup_with(strlist_release) struct strlist all = STRLIST_INIT;

	make_three();
	fake_world_add("hung:front-door");
	fake_world_lack("v1.36.3");
	ASSERT_INT(start_with((struct cluster_options){ .nodes = 0 }), -ENOENT);
	fake_world_list(&all);
	ASSERT(strlist_has(&all, "front-door"));
	ASSERT(!strlist_has(&all, "hung:front-door"));
	strlist_release(&all);
	/* One that has ended is opened, but not that of a cluster that does not run. */
	fake_world_remove("front-door");
	ASSERT_INT(start_with((struct cluster_options){ .nodes = 0 }), -ENOENT);
	fake_world_list(&all);
	ASSERT(strlist_has(&all, "front-door"));
	strlist_release(&all);
	fake_world_remove("front-door");
	stop_named("node-1");
	ASSERT_INT(start_with((struct cluster_options){ .nodes = 0 }), -ENOENT);
	fake_world_lack(NULL);
	fake_world_list(&all);
	ASSERT(!strlist_has(&all, "front-door"));
}

TEST(nobody_waits_for_an_answer_beyond_the_deadline)
{
	cleanup_free char *path = xasprintf("%s/kubeconfig", test_dir());
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	cleanup_free char *text = NULL;
	struct profile profile = { .dir = (char *)(uintptr_t)test_dir() };
	/* Nobody takes its connections, as with a process that is stopped. */
	cleanup_fd int fd = test_listen("127.0.0.1", 0);
	int64_t began_ms;

	text = xasprintf("server: http://127.0.0.1:%u\n"
			 "certificate-authority-data: eHh4\n"
			 "client-certificate-data: eHh4\n"
			 "client-key-data: eHh4\n",
			 test_port(fd));
	ASSERT_OK(file_put(path, text, strlen(text), 0600, &err));
	world = &world_real;
	began_ms = clock_now_ms();
	ASSERT_INT(cluster_wait(&profile, WAIT_API, NULL, 1, NULL, &why), -ETIMEDOUT);
	ASSERT(strstr(why.text, "the API did not answer in time"));
	/* A request by itself may take 30 s. */
	ASSERT(clock_now_ms() - began_ms < 15 * 1000);
}

/* A start of the whole cluster waits for node-2 in vain. */
static void assert_waits_for_node_2(void)
{
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	struct cluster_options options = { .wait = WAIT_API | WAIT_NODES, .wait_seconds = 1 };

	ASSERT_INT(cluster_start("test", &options, NULL, &outcome, &why), -ETIMEDOUT);
	ASSERT_STR(why.text, "timed out waiting for nodes: node-2");
}

TEST(a_node_whose_kubelet_has_ended_is_waited_for_although_the_api_calls_it_ready)
{
	make_three();
	fake_world_add("dead-kubelet:node-2");
	fake_world_add("silent:node-2");
	assert_waits_for_node_2();
}

/* Have the agent of node-2 say TEXT of its services. */
static void set_state(const char *text)
{
	cleanup_free char *path = fake_files_path("node-2", FAKE_STATE);

	ASSERT_OK(file_put(path, text, strlen(text), 0644, &err));
}

TEST(a_service_that_the_agent_says_does_not_run_is_waited_for)
{
	static const char *const states[] = {
		"agent 1\ncontainerd running 2 1 0\nkubelet backoff 0 1 2\n",
		"agent 1\ncontainerd backoff 0 1 2\nkubelet running 3 1 0\n",
	};

	make_three();
	for (size_t i = 0; i < ARRAY_SIZE(states); i++) {
		set_state(states[i]);
		assert_waits_for_node_2();
	}
	set_state("agent 1\ncontainerd running 2 1 0\nkubelet running 3 1 2\n");
	ASSERT_INT(start_with((struct cluster_options){ .wait_seconds = 1 }), 0);
}

TEST(a_kubelet_that_ends_for_want_of_programs_is_told_apart)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_with(error_clear) struct error why = ERROR_INIT;

	make_three();
	ASSERT_OK(profile_load("test", &profile, &err));
	set_state("agent 1\ncontainerd running 2 1 0\nkubelet backoff 0 1 5\n");
	ASSERT_INT(trouble_check(&profile, NULL, &why), -EIO);
	ASSERT(strstr(why.text, "the kubelet of node 'node-2' keeps exiting"));
	error_clear(&why);
	fake_world_add("no-programs:node-2");
	ASSERT_INT(trouble_check(&profile, NULL, &why), -EIO);
	ASSERT(strstr(why.text, "the programs of node 'node-2' are gone"));
	ASSERT(strstr(why.hint, "node start node-2"));
}

TEST(only_nodes_that_a_command_is_about_are_repaired)
{
	make_three();
	fake_world_add("hung-kubelet:node-2");
	ASSERT_INT(start_named("node-3"), 0);
	ASSERT_INT(outcome.repaired, 0);
	ASSERT_INT(start_named("node-2"), 0);
	ASSERT_INT(outcome.repaired, 1);
}

TEST(a_node_that_is_shutting_down_finishes_that_and_starts)
{
	make_three();
	fake_world_add("stopping:node-1");
	fake_world_add("stopping:node-3");
	ASSERT_INT(start_with((struct cluster_options){ .nodes = 0 }), 0);
	ASSERT_INT(outcome.started, 2);
	assert_history_ends("; finish stopping node-1 v1.36.3; start node-1 v1.36.3; finish "
			    "stopping node-3 v1.36.3; start node-3 v1.36.3");
	fake_world_add("stopping:node-2");
	ASSERT_INT(start_named("node-2"), 0);
	assert_history_ends("; finish stopping node-2 v1.36.3; start node-2 v1.36.3");
}

TEST(a_paused_node_need_not_tell_its_status_again)
{
	make_three();
	fake_world_add("frozen:node-2");
	fake_world_add("silent:node-2");
	ASSERT_INT(start_with((struct cluster_options){ .nodes = 0 }), 0);
	ASSERT_INT(outcome.started, 1);
}

TEST(without_a_cni_of_ours_nodes_need_not_be_ready_unless_that_is_asked_for)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_with(strlist_release) struct strlist others = STRLIST_INIT;
	cleanup_with(strlist_release) struct strlist bare = STRLIST_INIT;

	free(begin_round(0));
	fake_world_add("no-cni:node-1");
	fake_world_add("no-cni:node-2");
	ASSERT_INT(start_with((struct cluster_options){ .nodes = 2, .cni = "none" }), 0);
	ASSERT_INT(start_with((struct cluster_options){ .wait = WAIT_API | WAIT_READY,
							.wait_seconds = 1 }),
		   -ETIMEDOUT);
	ASSERT_OK(profile_load("test", &profile, &err));
	ASSERT_OK(cluster_find_unready(&profile, NULL, &others, &bare, &err));
	ASSERT_INT(bare.count, 2);
	ASSERT_INT(others.count, 0);
}

TEST(a_network_of_ours_that_is_missing_is_waited_for)
{
	free(begin_round(0));
	fake_world_add("no-cni:node-1");
	ASSERT_INT(start_with((struct cluster_options){ .nodes = 1, .wait_seconds = 1 }),
		   -ETIMEDOUT);
}

TEST(a_started_node_counts_once_it_has_told_its_status_and_not_by_its_lease)
{
	make_three();
	stop_named("node-3");
	fake_world_add("silent:node-2");
	fake_world_add("silent:node-3");
	ASSERT_INT(start_named("node-2"), 0);
	ASSERT_INT(start_with((struct cluster_options){ .wait_seconds = 1 }), -ETIMEDOUT);
}
