/* Failures that a user causes, in words and in a fake world. */

#include "fail/fail.h"

#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "cluster/cluster.h"
#include "fail/timer.h"
#include "fake-files.h"
#include "fake-world.h"
#include "record/options.h"
#include "rounds.h"
#include "test.h"

static struct cluster_options options = {
	.nodes = 4,
	.control_planes = 1,
	.kubernetes_version = "v1.36.3",
	.wait = WAIT_API | WAIT_NODES,
	.wait_seconds = 20,
};

static struct cluster_outcome start_it(void)
{
	struct cluster_outcome outcome;

	ASSERT_OK(cluster_start("test", &options, NULL, &outcome, &err));
	return outcome;
}

static void make_cluster(unsigned control_planes)
{
	cleanup_free char *dir = begin_round(0);

	options.control_planes = control_planes;
	fake_world_use(dir, 0);
	(void)start_it();
}

static int begin_in(struct profile *profile, const char *words, struct error *ret_why)
{
	cleanup_with(failure_release) struct failure failure = FAILURE_INIT;
	int r = failure_parse(words, &failure, ret_why);

	return r < 0 ? r : fail_begin(profile, &failure, NULL, ret_why);
}

static int begin(const char *words, struct error *ret_why)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;

	ASSERT_OK(profile_load("test", &profile, &err));
	return begin_in(&profile, words, ret_why);
}

/* End the failures of NODES, separated by blanks; NULL: all. */
static int heal(const char *nodes, struct error *ret_why)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	struct fail_selection selection = { NULL };

	ASSERT_OK(profile_load("test", &profile, &err));
	if (nodes) {
		strlist_split(&names, nodes, ' ');
		selection.nodes = &names;
	}
	return cluster_heal(&profile, &selection, NULL, ret_why);
}

/* The active failures, as the record on disk has them. */
static void assert_active(const char *expected)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_with(failures_release) struct failures all = FAILURES_INIT;
	cleanup_with(strlist_release) struct strlist words = STRLIST_INIT;
	cleanup_free char *text = NULL;
	const struct failure *failure;

	ASSERT_OK(profile_load("test", &profile, &err));
	failures_read(&profile, &all);
	failures_for_each(failure, &all) {
		cleanup_free char *one = failure_print(failure);

		strlist_add(&words, one);
	}
	text = strlist_join(&words, "; ");
	ASSERT_STR(text, expected);
}

static bool world_has(const char *what)
{
	cleanup_with(strlist_release) struct strlist all = STRLIST_INIT;

	fake_world_list(&all);
	return strlist_has(&all, what);
}

static bool node_has(const char *node, const char *path)
{
	cleanup_free char *full = fake_files_path(node, path);

	return file_exists(full);
}

static void assert_printed(const char *words, const char *expected)
{
	cleanup_with(failure_release) struct failure failure = FAILURE_INIT;
	cleanup_free char *text = NULL;

	ASSERT_OK(failure_parse(words, &failure, &err));
	text = failure_print(&failure);
	ASSERT_STR(text, expected);
}

TEST(failures_are_read_and_printed_in_the_words_of_the_command)
{
	assert_printed("freeze node-2", "freeze node-2");
	assert_printed("partition node-2 node-3 --from node-1,host --port 2380",
		       "partition node-2 node-3 --from=node-1,host --port=2380");
	assert_printed("slow node-2 --to=node-1 --delay=0.1s --jitter=20ms --loss=5% --rate=10mbit",
		       "slow node-2 --to=node-1 --delay=100ms --jitter=20ms --loss=5% "
		       "--rate=10mbit");
	assert_printed("slow a --loss=0.50% --rate=1.5mbit", "slow a --loss=0.5% --rate=1500kbit");
	assert_printed("clock a --offset=-5m --for=1m", "clock a --offset=-300s");
}

TEST(wrong_words_are_refused)
{
	static const char *const words[] = {
		"",
		"freeze",
		"melt node-2",
		"freeze Node_2",
		"freeze node-2 --port=1",
		"freeze node-2 --for=0",
		"freeze node-2 --for",
		"freeze node-2 --since=1",
		"partition node-2 --from=",
		"partition node-2 --port=0",
		"partition node-2 --port=65536",
		"slow node-2 --loss=200%",
		"slow node-2 --loss=0%",
		"slow node-2 --loss=5",
		"slow node-2 --delay=100",
		"slow node-2 --delay=2m",
		"slow node-2 --rate=10",
		"slow node-2 --rate=1bit",
		"slow node-2 --rate=1000gbit",
		"clock node-2 --offset=0",
	};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		cleanup_with(failure_release) struct failure failure = FAILURE_INIT;
		cleanup_with(error_clear) struct error why = ERROR_INIT;

		ASSERT_INT(failure_parse(words[i], &failure, &why), -EINVAL);
		ASSERT(why.reason == &reason_usage);
	}
}

static void assert_refused(const char *words, int code, const char *text)
{
	cleanup_with(error_clear) struct error why = ERROR_INIT;

	ASSERT_INT(begin(words, &why), code);
	ASSERT_STR(why.text, text);
	assert_active("");
}

TEST(what_cannot_fail_is_refused_before_anything_is_made)
{
	cleanup_with(error_clear) struct error why = ERROR_INIT;

	make_cluster(1);
	assert_refused("freeze node-9", -ENOENT, "cluster 'test' has no node 'node-9'");
	assert_refused("partition node-2 --from=node-2", -EINVAL,
		       "node 'node-2' is on both sides: the network between a node and itself "
		       "cannot fail");
	assert_refused("etcd node-2", -EINVAL, "node 'node-2' is a worker, which has no etcd");
	assert_refused("slow node-2", -EINVAL, "a slow network needs --delay, --loss or --rate");
	assert_refused("slow node-2 --loss=1% --jitter=1ms", -EINVAL,
		       "--jitter varies a delay: it needs --delay");
	ASSERT_INT(heal("node-2", &why), -EINVAL);
	ASSERT_STR(why.text, "node 'node-2' has no failure");
	ASSERT_INT(heal(NULL, NULL), 0);
	ASSERT(!world_has("rules"));
}

TEST(a_frozen_node_is_resumed_by_nothing_but_heal)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	cleanup_with(error_clear) struct error second = ERROR_INIT;

	make_cluster(1);
	ASSERT_OK(begin("freeze node-2 node-3", &err));
	ASSERT_OK(begin("freeze node-2", &err));
	assert_active("freeze node-3; freeze node-2");
	ASSERT_INT(start_it().started, 0);
	ASSERT(world_has("frozen:node-2"));
	ASSERT_OK(profile_load("test", &profile, &err));
	ASSERT_INT(
		cluster_pause(&profile, profile_find_node(&profile, "node-2"), false, NULL, &why),
		-EBUSY);
	ASSERT_INT(cluster_pause(&profile, NULL, false, NULL, NULL), 0);
	ASSERT(world_has("frozen:node-2"));
	ASSERT_INT(begin("kubelet node-2", &second), -EAGAIN);
	ASSERT_STR(second.text, "node 'node-2' is frozen already");
	ASSERT_INT(heal("node-2", NULL), 1);
	ASSERT(!world_has("frozen:node-2") && world_has("frozen:node-3"));
	ASSERT_INT(heal(NULL, NULL), 1);
	ASSERT(!world_has("frozen:node-3"));
	assert_active("");
}

TEST(a_killed_node_is_started_by_heal_and_by_nothing_else)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_with(strlist_release) struct strlist only = STRLIST_INIT;
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	struct cluster_options named = options;
	struct cluster_outcome outcome;

	make_cluster(1);
	ASSERT_OK(begin("kill node-2", &err));
	ASSERT(!world_has("running:node-2"));
	ASSERT_INT(start_it().started, 0);
	ASSERT(!world_has("running:node-2"));
	strlist_add(&only, "node-2");
	named.only = &only;
	ASSERT_INT(cluster_start("test", &named, NULL, &outcome, &why), -EBUSY);
	ASSERT_STR(why.text, "node 'node-2' has a failure: killed");
	ASSERT_INT(heal("node-2", NULL), 1);
	ASSERT(world_has("running:node-2"));
	/* A cluster that was stopped meanwhile stays so. */
	ASSERT_OK(begin("kill node-3", &err));
	ASSERT_OK(profile_load("test", &profile, &err));
	ASSERT_INT(cluster_stop(&profile, true, NULL, NULL), 3);
	ASSERT_INT(heal("node-3", NULL), 1);
	ASSERT(!world_has("running:node-3") && !world_has("running:node-1"));
	ASSERT_INT(start_it().started, 4);
}

TEST(services_are_held_down_also_over_a_restart_of_the_node)
{
	make_cluster(1);
	ASSERT_OK(begin("kubelet node-2", &err));
	ASSERT_OK(begin("runtime node-2", &err));
	ASSERT(node_has("node-2", "/etc/manykube/hold/kubelet"));
	ASSERT(node_has("node-2", "/etc/manykube/hold/containerd"));
	ASSERT_INT(start_it().started, 0);
	assert_active("kubelet node-2; runtime node-2");
	ASSERT_INT(heal("node-2", NULL), 2);
	ASSERT(!node_has("node-2", "/etc/manykube/hold/kubelet"));
	ASSERT(!node_has("node-2", "/etc/manykube/hold/containerd"));
}

TEST(the_manifest_of_a_static_pod_is_moved_aside_and_back)
{
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	struct cluster_outcome outcome;

	make_cluster(3);
	ASSERT_OK(begin("etcd node-2", &err));
	ASSERT(!node_has("node-2", "/etc/kubernetes/manifests/etcd.yaml"));
	ASSERT_INT(start_it().started, 0);
	/* Without a majority, a start would wait in vain. */
	ASSERT_OK(begin("kill node-3", &err));
	ASSERT_INT(cluster_start("test", &options, NULL, &outcome, &why), -EINVAL);
	ASSERT_STR(why.text, "failures leave 1 of the 3 control planes of cluster 'test', and etcd "
			     "needs 2");
	ASSERT_INT(heal(NULL, NULL), 2);
	ASSERT(node_has("node-2", "/etc/kubernetes/manifests/etcd.yaml"));
	ASSERT(!node_has("node-2", "/etc/manykube/held/etcd.yaml"));
}

static void assert_rules(const char *words, const char *const *expected)
{
	cleanup_free char *rules = NULL;

	ASSERT_OK(begin(words, &err));
	rules = fake_world_rules();
	for (; *expected; expected++)
		if (!strstr(rules, *expected)) {
			fprintf(stderr, "no '%s' in:\n%s", *expected, rules);
			ASSERT(!"the rules are incomplete");
		}
	ASSERT_INT(heal(NULL, NULL), 1);
	ASSERT(!world_has("rules"));
}

TEST(partitions_are_rules_for_the_ports_of_the_bridge)
{
	make_cluster(1);
	assert_rules("partition node-2 node-3",
		     (const char *const[]){
			     "iifname { \"mktest.3\", \"mktest.4\" } oifname != { \"mktest.3\", "
			     "\"mktest.4\" } jump failure0\n",
			     "iifname != { \"mktest.3\", \"mktest.4\" } oifname { \"mktest.3\", "
			     "\"mktest.4\" } jump failure1\n",
			     "  iifname { \"mktest.3\", \"mktest.4\" } jump failure2\n",
			     "  oifname { \"mktest.3\", \"mktest.4\" } jump failure3\n",
			     "chain failure0 {\n  drop\n}\n", NULL });
	assert_rules("partition node-2 --from=node-1 --port=2380",
		     (const char *const[]){ "iifname { \"mktest.3\" } oifname { \"mktest.2\" } "
					    "meta l4proto { tcp, udp } th dport 2380 jump failure0",
					    "iifname { \"mktest.3\" } oifname { \"mktest.2\" } "
					    "meta l4proto { tcp, udp } th sport 2380 jump failure0",
					    NULL });
	assert_rules("partition node-2 --from=front-door",
		     (const char *const[]){ "iifname { \"mktest.3\" } ip daddr 192.168.39.1 meta "
					    "l4proto { tcp, udp } th dport { 53, 6443 } jump",
					    "oifname { \"mktest.3\" } tcp dport { 6443 } jump",
					    NULL });
	assert_rules("partition node-2 --from=host",
		     (const char *const[]){ "  tcp dport { 6443 } return\n  drop\n", NULL });
	assert_rules("slow node-2 --loss=5% --rate=8mbit",
		     (const char *const[]){ "numgen random mod 10000 < 500 drop\n",
					    "limit rate over 1000000 bytes/second", NULL });
}

TEST(a_delay_is_a_queue_at_the_port_of_the_node)
{
	cleanup_with(error_clear) struct error why = ERROR_INIT;

	make_cluster(1);
	ASSERT_OK(begin("slow node-2 node-3 --delay=100ms --jitter=10ms", &err));
	ASSERT(world_has("delay:mktest.3") && world_has("delay:mktest.4"));
	ASSERT_INT(heal("node-2", NULL), 1);
	ASSERT(!world_has("delay:mktest.3") && world_has("delay:mktest.4"));
	/* One of the same nodes and peers replaces the first one. */
	ASSERT_OK(begin("slow node-3 --loss=1%", &err));
	ASSERT(!world_has("delay:mktest.4"));
	ASSERT_INT(heal(NULL, NULL), 1);
	assert_refused("slow node-2 --delay=1ms --to=node-3", -EINVAL,
		       "--delay concerns all packets to a node: it cannot be combined with --to");
	fake_world_add("no:netem");
	ASSERT_INT(begin("slow node-2 --delay=1ms", &why), -ENOTSUP);
	assert_active("");
}

static void assert_stopped(const char *words, const char *expected)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_with(strlist_release) struct strlist stopped = STRLIST_INIT;
	cleanup_free char *text = NULL;
	const struct node *node;

	ASSERT_OK(begin(words, &err));
	ASSERT_OK(profile_load("test", &profile, &err));
	profile_for_each_node(node, &profile)
		if (node->control_plane && failure_stops_etcd(&profile, node->name))
			strlist_add(&stopped, node->name);
	text = strlist_join(&stopped, " ");
	ASSERT_STR(text, expected);
	ASSERT_INT(heal(NULL, NULL), 1);
}

TEST(the_smaller_part_of_the_control_planes_is_cut_off)
{
	make_cluster(3);
	assert_stopped("partition node-3", "node-3");
	assert_stopped("partition node-1 node-2 --from=node-3", "node-3");
	assert_stopped("partition node-3 --from=node-1,node-2 --port=2380", "node-3");
	assert_stopped("partition node-1 --from=front-door", "node-1");
	assert_stopped("partition node-1 --from=node-2 --port=80", "");
	assert_stopped("kubelet node-1", "");
}

TEST(rules_go_with_the_network_and_come_back_with_it)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;

	make_cluster(1);
	ASSERT_OK(begin("partition node-2 --from=node-3", &err));
	ASSERT_OK(profile_load("test", &profile, &err));
	ASSERT_INT(cluster_stop(&profile, true, NULL, NULL), 4);
	ASSERT(!world_has("rules"));
	(void)start_it();
	ASSERT(world_has("rules"));
	ASSERT_INT(heal("node-3", NULL), 1);
	assert_active("");
	ASSERT(!world_has("rules"));
}

TEST(a_part_of_a_partition_can_be_healed)
{
	make_cluster(1);
	ASSERT_OK(begin("partition node-2 node-3 --from=node-1,host", &err));
	ASSERT_INT(heal("node-2", NULL), 1);
	assert_active("partition node-3 --from=node-1,host");
	ASSERT_INT(heal("node-1", NULL), 1);
	assert_active("partition node-3 --from=host");
	ASSERT_INT(heal("node-3", NULL), 1);
	assert_active("");
}

TEST(a_deleted_node_takes_its_failures_along)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	bool api_knows;

	make_cluster(1);
	ASSERT_OK(begin("partition node-2 node-3", &err));
	ASSERT_OK(begin("kubelet node-2", &err));
	ASSERT_OK(profile_load("test", &profile, &err));
	ASSERT_OK(cluster_remove_node(&profile, "node-2", false, 0, NULL, &api_knows, &err));
	assert_active("partition node-3");
}

TEST(a_failure_with_a_time_has_a_timer)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	const struct fail_selection expired = { .expired = true };

	make_cluster(1);
	ASSERT_OK(begin("freeze node-2 --for=100s", &err));
	ASSERT_OK(begin("kubelet node-3", &err));
	ASSERT(world_has("failure-timer"));
	ASSERT_OK(profile_load("test", &profile, &err));
	ASSERT(fail_timer_next(&profile) > clock_wall_seconds() + 90);
	ASSERT_INT(cluster_heal(&profile, &expired, NULL, NULL), 0);
	ASSERT_INT(heal("node-2", NULL), 1);
	ASSERT(!world_has("failure-timer"));
}

TEST(disk_memory_and_clock_fail_within_the_node)
{
	static const char flags[] = "KUBELET_KUBEADM_ARGS=\"--a=b\"\n";
	cleanup_free char *path = NULL;
	cleanup_with(strbuf_release) struct strbuf now = STRBUF_INIT;

	options.settings.disk_bytes = UINT64_C(4) << 30;
	make_cluster(1);
	path = fake_files_path("node-2", "/var/lib/kubelet/kubeadm-flags.env");
	ASSERT_OK(file_put(path, flags, strlen(flags), 0644, &err));
	ASSERT_OK(begin("disk-full node-2", &err));
	ASSERT(node_has("node-2", "/var/lib/manykube-disk-full"));
	ASSERT_OK(begin("memory node-2", &err));
	ASSERT_OK(begin("memory node-2", &err));
	ASSERT_OK(file_read(path, 4096, &now, &err));
	ASSERT(strstr(now.text, "--a=b --eviction-hard=memory.available<512Mi,"));
	ASSERT_OK(begin("clock node-2", &err));
	ASSERT_INT(heal(NULL, NULL), 3);
	ASSERT(!node_has("node-2", "/var/lib/manykube-disk-full"));
	ASSERT(!node_has("node-2", "/etc/manykube/ballast"));
	strbuf_reset(&now);
	ASSERT_OK(file_read(path, 4096, &now, &err));
	ASSERT_STR(now.text, flags);
}

/* Rounds that are cut short after every step. */

static int make(void)
{
	options.control_planes = 1;
	(void)start_it();
	return 0;
}

static int fail_all(void)
{
	static const char *const words[] = { "freeze node-2 --for=100s", "kill node-3",
					     "kubelet node-4",
					     "partition node-2 node-4 --from=node-1" };
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	int r = profile_load("test", &profile, NULL);

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(words); i++)
		r = begin_in(&profile, words[i], NULL);
	return r;
}

static int make_and_fail(void)
{
	(void)make();
	return fail_all();
}

static int heal_all(void)
{
	return MIN(heal(NULL, NULL), 0);
}

/* Whatever was made is found, and goes; afterwards a start brings up what is down. */
static void check_healed(void)
{
	ASSERT(heal(NULL, NULL) >= 0);
	assert_active("");
	ASSERT(!world_has("rules") && !world_has("failure-timer") && !world_has("frozen:node-2"));
	ASSERT(!node_has("node-4", "/etc/manykube/hold/kubelet"));
	(void)start_it();
	ASSERT(world_has("running:node-3"));
}

static void check_deleted(void)
{
	cleanup_with(strlist_release) struct strlist all = STRLIST_INIT;

	ASSERT_OK(cluster_delete("test", NULL, &err));
	fake_world_list(&all);
	ASSERT_INT(all.count, 0);
}

TEST(failures_cut_short_after_any_step_are_healed)
{
	cut_short(make, fail_all, check_healed, 10);
}

TEST(healing_cut_short_after_any_step_is_continued)
{
	cut_short(make_and_fail, heal_all, check_healed, 8);
}

TEST(a_cluster_with_failures_cut_short_is_deleted_without_a_trace)
{
	cut_short(make, fail_all, check_deleted, 10);
}
