/* Adding, stopping, starting and deleting nodes in a fake world: whole, and ended after every
 * single step. */

#include "base/clock.h"
#include "base/log.h"
#include "cluster/change-node.h"
#include "cluster/cluster.h"
#include "fake-world.h"
#include "kubeadm/drain.h"
#include "network/network.h"
#include "node/cluster-node.h"
#include "node/node-files.h"
#include "record/options.h"
#include "rounds.h"
#include "test.h"

static int start_with(struct cluster_options options, struct cluster_outcome *ret_outcome)
{
	options.kubernetes_version = "v1.36.3";
	options.wait = WAIT_API | WAIT_NODES;
	options.wait_seconds = 20;
	return cluster_start("test", &options, NULL, ret_outcome, NULL);
}

static int start_nodes(unsigned count)
{
	struct cluster_outcome outcome;

	return start_with((struct cluster_options){ .nodes = count }, &outcome);
}

static int start_all(void)
{
	return start_nodes(0);
}

static int start_named(const char *name)
{
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	struct cluster_outcome outcome;
	int r;

	strlist_add(&names, name);
	r = start_with((struct cluster_options){ .only = &names }, &outcome);
	return r == 0 && outcome.only_registered ? -ESRCH : r;
}

static int start_second(void)
{
	return start_named("node-2");
}

static int add(const char *name, size_t count)
{
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	const struct node_options nodes[2] = { { .name = name } };
	struct cluster_outcome outcome;
	int r = start_with(
		(struct cluster_options){ .add = nodes, .add_count = count, .only = &names },
		&outcome);

	ASSERT(r < 0 || names.count == count);
	return r;
}

static int add_two(void)
{
	return add(NULL, 2);
}

static int stop_some(struct strlist *names)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	int r;

	ASSERT_OK(profile_load("test", &profile, &err));
	r = names ? cluster_stop_nodes(&profile, names, NULL, NULL)
		  : cluster_stop(&profile, false, NULL, NULL);
	return MIN(r, 0);
}

static int stop_all(void)
{
	return stop_some(NULL);
}

static int stop_two(void)
{
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;

	strlist_add(&names, "node-1");
	strlist_add(&names, "node-3");
	return stop_some(&names);
}

static int stop_named(const char *name)
{
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;

	strlist_add(&names, name);
	return stop_some(&names);
}

/* Whether the API was left to be told by the next start. */
static bool api_knows;

static int delete_named(const char *name)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;

	ASSERT_OK(profile_load("test", &profile, &err));
	return cluster_remove_node(&profile, name, false, 0, NULL, &api_knows, NULL);
}

static int delete_third(void)
{
	return delete_named("node-3");
}

#define UP       "bridge:mktest etcd:node-1 front-door kubeconfig "
#define FIRST    "node-1 joined 192.168.39.2 10.244.0.0/24"
#define SECOND   "node-2 joined 192.168.39.3 10.244.1.0/24"
#define THIRD    "node-3 joined 192.168.39.4 10.244.2.0/24"
#define MEMBERS  "member:node-1 member:node-2 member:node-3 "
#define NO_NODES "etcd:node-1 member:node-1 member:node-2 member:node-3"

static int one_node(void)
{
	return start_nodes(1);
}

static int one_stopped_node(void)
{
	int r = start_nodes(1);

	return r < 0 ? r : stop_all();
}

static int three_nodes(void)
{
	return start_nodes(3);
}

static int workers_stopped(void)
{
	int r = start_nodes(3);

	if (r == 0)
		r = stop_named("node-2");
	return r < 0 ? r : stop_named("node-3");
}

static int control_plane_stopped(void)
{
	int r = start_nodes(3);

	return r < 0 ? r : stop_named("node-1");
}

static void assert_three(void)
{
	assert_world(UP MEMBERS "running:node-1 running:node-2 running:node-3");
	assert_profile(FIRST "; " SECOND "; " THIRD);
}

static void assert_two(void)
{
	assert_world(UP "member:node-1 member:node-2 running:node-1 running:node-2");
	assert_profile(FIRST "; " SECOND);
}

/* Adding. */

TEST(a_new_cluster_is_made_of_the_nodes_it_is_to_have)
{
	static const struct node_options nodes[] = {
		{ .name = "one", .cpus = 1 },
		{ .name = "two" },
		{ .name = "three", .address = "192.168.39.3", .control_plane = false },
	};
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	struct cluster_outcome outcome;

	free(begin_round(0));
	ASSERT_INT(start_with((struct cluster_options){ .subnet = "192.168.39.0/24",
							.add = nodes,
							.add_count = ARRAY_SIZE(nodes),
							.nodes = 4 },
			      &outcome),
		   0);
	ASSERT_OK(profile_load("test", &profile, &err));
	ASSERT_INT(profile.node_count, 4);
	ASSERT_STR(profile.nodes[0].name, "one");
	ASSERT(profile.nodes[0].primary && profile.nodes[0].control_plane);
	ASSERT_INT(profile.nodes[0].cpus, 1);
	/* An address that was asked for is nobody else's. */
	ASSERT_STR(profile.nodes[1].address, "192.168.39.4");
	ASSERT_STR(profile.nodes[2].address, "192.168.39.3");
	ASSERT_STR(profile.nodes[3].name, "node-1");
	ASSERT(!profile.nodes[3].control_plane);
}

TEST(nodes_are_added_to_a_running_cluster_and_leave_no_token)
{
	cleanup_with(strlist_release) struct strlist all = STRLIST_INIT;
	const char *what;

	free(begin_round(0));
	ASSERT_INT(one_node(), 0);
	ASSERT_INT(add_two(), 0);
	assert_three();
	fake_world_list(&all);
	strlist_for_each(what, &all)
		ASSERT(strncmp(what, "token:", 6) != 0);
}

static void start_makes_three(void)
{
	ASSERT_INT(start_all(), 0);
	assert_three();
}

TEST(an_add_cut_short_is_finished_by_start)
{
	cut_short(one_node, add_two, start_makes_three, 5);
}

static void node_start_makes_three(void)
{
	ASSERT_INT(start_named("node-3"), 0);
	ASSERT_INT(start_named("node-2"), 0);
	assert_three();
}

TEST(an_add_cut_short_is_finished_by_starting_the_nodes)
{
	cut_short(one_node, add_two, node_start_makes_three, 5);
}

static int add_third(void)
{
	return add("node-3", 1);
}

static void same_add_makes_three(void)
{
	/* All of it may have been done: then the name is taken. */
	int r = add_third();

	ASSERT(r == 0 || r == -EEXIST);
	assert_three();
}

static int two_nodes(void)
{
	return start_nodes(2);
}

TEST(an_add_of_a_named_node_cut_short_is_finished_by_the_same)
{
	cut_short(two_nodes, add_third, same_add_makes_three, 4);
}

TEST(a_begun_node_is_not_gone_on_with_when_another_is_wanted)
{
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	struct cluster_options bigger = {
		.add = &(struct node_options){ .name = "node-2", .cpus = 7 },
		.add_count = 1,
		.only = &names,
	};
	struct cluster_outcome outcome;

	free(begin_round(0));
	ASSERT_INT(one_stopped_node(), 0);
	ASSERT_INT(add("node-2", 1), 0);
	ASSERT_INT(start_with(bigger, &outcome), -EEXIST);
	ASSERT_INT(add("node-2", 1), 0);
}

TEST(what_is_added_to_a_stopped_cluster_comes_up_with_it)
{
	free(begin_round(0));
	ASSERT_INT(one_stopped_node(), 0);
	ASSERT_INT(add_two(), 0);
	assert_world("etcd:node-1 member:node-1");
	/* A node alone is not of any use. */
	ASSERT_INT(start_named("node-2"), -ESRCH);
	assert_world("etcd:node-1 member:node-1");
	start_makes_three();
	ASSERT_INT(fake_world_inits(), 1);
}

TEST(an_add_to_a_stopped_cluster_cut_short_is_finished_by_start)
{
	cut_short(one_stopped_node, add_two, start_makes_three, 1);
}

/* Versions. */

static int add_old(void)
{
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	struct cluster_outcome outcome;

	return start_with(
		(struct cluster_options){
			.add = &(struct node_options){ .kubernetes_version = "v1.35" },
			.add_count = 1,
			.only = &names },
		&outcome);
}

/* See that what WORK did it did with the payloads of VERSIONS. */
static void assert_payloads(int (*work)(void), const char *versions)
{
	cleanup_free char *text = NULL;

	strlist_release(&fake_world_payloads);
	ASSERT_INT(work(), 0);
	text = strlist_join(&fake_world_payloads, " ");
	ASSERT_STR(text, versions);
}

static int start_first(void)
{
	return start_named("node-1");
}

TEST(payloads_of_all_versions_that_take_part_are_there_before)
{
	free(begin_round(0));
	assert_payloads(one_node, "v1.36.3");
	assert_payloads(add_old, "v1.36.3 v1.35.4");
	ASSERT_INT(stop_all(), 0);
	assert_payloads(start_first, "v1.36.3");
	assert_payloads(start_all, "v1.36.3 v1.35.4");
	assert_two();
}

static int one_node_offline(void)
{
	struct cluster_outcome outcome;

	return start_with((struct cluster_options){ .nodes = 1, .offline = true }, &outcome);
}

static int start_online(void)
{
	struct cluster_outcome outcome;

	return start_with((struct cluster_options){ .given.offline = true }, &outcome);
}

TEST(nothing_is_fetched_for_a_cluster_that_is_offline)
{
	free(begin_round(0));
	assert_payloads(one_node_offline, "v1.36.3");
	assert_payloads(add_old, "v1.36.3 v1.35.4");
	assert_payloads(start_all, "v1.36.3 v1.35.4");
	ASSERT_INT(fake_world_fetches, 0);
	assert_payloads(start_online, "v1.36.3 v1.35.4");
	ASSERT_INT(fake_world_fetches, 2);
}

TEST(getting_another_version_does_not_count_as_waiting_for_the_node)
{
	free(begin_round(0));
	ASSERT_INT(one_node(), 0);
	fake_world_slow_seconds = 3600;
	ASSERT_INT(add_old(), 0);
	assert_two();
}

TEST(nothing_is_made_if_the_nodes_version_cant_be_had)
{
	free(begin_round(0));
	ASSERT_INT(one_node(), 0);
	fake_world_lack("v1.35.4");
	ASSERT_INT(add_old(), -ENOENT);
	fake_world_lack(NULL);
	assert_world(UP "member:node-1 running:node-1");
	assert_profile(FIRST);
}

TEST(a_node_of_another_version_has_only_its_kubelet_of_that)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_with(cluster_node_release) struct cluster_node first = CLUSTER_NODE_INIT;
	cleanup_with(cluster_node_release) struct cluster_node old = CLUSTER_NODE_INIT;

	free(begin_round(0));
	ASSERT_INT(setenv("MANYKUBE_CACHE", "/cache", 1), 0);
	ASSERT_INT(one_node(), 0);
	ASSERT_INT(add_old(), 0);
	ASSERT_OK(profile_load("test", &profile, &err));
	ASSERT_STR(profile.nodes[1].kubernetes_version, "v1.35.4");
	ASSERT_OK(cluster_node_open(&profile, &profile.nodes[0], &first, &err));
	ASSERT_OK(cluster_node_open(&profile, &profile.nodes[1], &old, &err));
	ASSERT_STR(first.spec.payload, "/cache/v1.36.3");
	ASSERT_INT(first.spec.mount_count, 0);
	ASSERT_STR(old.spec.payload, "/cache/v1.36.3");
	ASSERT_INT(old.spec.mount_count, 1);
	ASSERT_STR(old.spec.mounts[0].host, "/cache/v1.35.4/bin/kubelet");
	ASSERT_STR(old.spec.mounts[0].node, "/opt/manykube/bin/kubelet");
	ASSERT(old.spec.mounts[0].read_only);
}

/* Changing. */

static int set_disk(const char *name, uint64_t gib, bool *ret_needs_restart)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	const struct node_settings changes = { .disk_bytes = gib << 30 };

	ASSERT_OK(profile_load("test", &profile, &err));
	return cluster_change_node(&profile, name, &changes, ret_needs_restart, NULL);
}

TEST(a_disk_can_only_grow_and_only_where_there_is_one)
{
	bool needs_restart = false;

	free(begin_round(0));
	ASSERT_INT(one_node(), 0);
	ASSERT_INT(set_disk("node-1", 20, &needs_restart), -EINVAL);
	ASSERT_INT(stop_all(), 0);
	ASSERT_INT(add_two(), 0);
	/* These are yet to be made. */
	ASSERT_INT(set_disk("node-2", 20, &needs_restart), 0);
	ASSERT_INT(set_disk("node-2", 10, &needs_restart), 0);
	ASSERT_INT(set_disk("node-2", 1, &needs_restart), -ERANGE);
	ASSERT(!needs_restart);
	ASSERT_INT(start_all(), 0);
	ASSERT_INT(set_disk("node-2", 5, &needs_restart), -EINVAL);
	ASSERT_INT(set_disk("node-2", 20, &needs_restart), 0);
	ASSERT(needs_restart);
	ASSERT_INT(set_disk("node-3", 20, &needs_restart), -EINVAL);
}

static bool is_outdated(const char *name)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;

	ASSERT_OK(profile_load("test", &profile, &err));
	return profile_find_node(&profile, name)->outdated;
}

TEST(a_node_whose_disk_could_not_grow_waits_for_another_start)
{
	bool needs_restart;

	free(begin_round(0));
	ASSERT_INT(one_node(), 0);
	ASSERT_INT(stop_all(), 0);
	ASSERT_INT(add_two(), 0);
	ASSERT_INT(set_disk("node-2", 10, &needs_restart), 0);
	ASSERT_INT(start_all(), 0);
	ASSERT_INT(set_disk("node-2", 20, &needs_restart), 0);
	fake_world_add("small-disk:node-2");
	ASSERT_INT(stop_all(), 0);
	ASSERT_INT(start_all(), 0);
	ASSERT(is_outdated("node-2"));
	fake_world_remove("small-disk:node-2");
	ASSERT_INT(stop_all(), 0);
	ASSERT_INT(start_all(), 0);
	ASSERT(!is_outdated("node-2"));
}

TEST(ports_that_lead_to_a_deleted_node_alone_are_closed)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_with(profile_release) struct profile after = PROFILE_INIT;
	cleanup_free char *ports = NULL;

	free(begin_round(0));
	ASSERT_INT(three_nodes(), 0);
	ASSERT_OK(profile_load("test", &profile, &err));
	strlist_add(&profile.ports, "18080:30080@node-3");
	strlist_add(&profile.ports, "18081:30081");
	strlist_add(&profile.ports, "18082:30082@node-2");
	ASSERT_OK(cluster_close_ports(&profile, "node-3", &err));
	ASSERT_OK(profile_load("test", &after, &err));
	ports = strlist_join(&after.ports, " ");
	ASSERT_STR(ports, "18081:30081 18082:30082@node-2");
}

TEST(a_paused_control_plane_keeps_a_node_from_being_changed_at_once)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	struct node_settings changes = { .disk_bytes = 0 };
	bool needs_restart;

	free(begin_round(0));
	ASSERT_INT(three_nodes(), 0);
	ASSERT_OK(profile_load("test", &profile, &err));
	fake_world_add("frozen:node-1");
	strlist_add(&changes.labels, "tier=db");
	ASSERT_INT(cluster_change_node(&profile, "node-2", &changes, &needs_restart, &why), -EBUSY);
	ASSERT(why.reason == &reason_api_not_running);
	ASSERT(strstr(why.hint, "'manykube unpause'"));
	strlist_release(&changes.labels);
}

TEST(registries_of_a_node_that_runs_change_at_once_and_others_keep_theirs)
{
	static const char hosts[] = "/etc/containerd/certs.d/docker.io/hosts.toml";
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_with(strlist_release) struct strlist ports = STRLIST_INIT;
	struct node_settings changes = { .disk_bytes = 0 };
	bool needs_restart;

	free(begin_round(0));
	ASSERT_INT(three_nodes(), 0);
	ASSERT_OK(profile_load("test", &profile, &err));
	strlist_addf(&changes.registry_mirrors, "http://%s:5432", profile.gateway);
	ASSERT_OK(cluster_change_node(&profile, "node-2", &changes, &needs_restart, &err));
	ASSERT(!needs_restart);
	ASSERT_OK(node_read(&profile, profile_find_node(&profile, "node-2"), hosts, &text, &err));
	ASSERT(strstr(text.text, ":5432\"]"));
	ASSERT(!node_has(&profile, profile_find_node(&profile, "node-3"), hosts));
	network_host_ports(&profile, &ports);
	ASSERT(strlist_has(&ports, "tcp 5432"));
	strlist_release(&changes.registry_mirrors);
	strlist_add(&changes.registry_mirrors, "docker.io-");
	ASSERT_OK(cluster_change_node(&profile, "node-2", &changes, &needs_restart, &err));
	ASSERT(!node_has(&profile, profile_find_node(&profile, "node-2"), hosts));
	strlist_release(&changes.registry_mirrors);
}

static unsigned warnings_of_size;

static void count_warning(const char *text)
{
	warnings_of_size += strstr(text, "Kubernetes will see ") != NULL;
}

TEST(a_node_that_gets_more_than_this_host_has_is_warned_of)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	const struct node_settings vast = { .cpus = 1000000, .memory_bytes = UINT64_C(1) << 60 };
	const struct node_settings all = { .cpus = ALL_CPUS, .memory_bytes = ALL_MEMORY };
	bool needs_restart;

	free(begin_round(0));
	ASSERT_INT(three_nodes(), 0);
	ASSERT_OK(profile_load("test", &profile, &err));
	log_show_warnings_with(count_warning);
	ASSERT_OK(cluster_change_node(&profile, "node-2", &vast, &needs_restart, &err));
	ASSERT_INT(warnings_of_size, 2);
	ASSERT_OK(cluster_change_node(&profile, "node-2", &all, &needs_restart, &err));
	ASSERT_INT(warnings_of_size, 2);
	log_show_warnings_with(NULL);
}

TEST(a_node_is_outdated_until_it_is_started_again)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	const struct node_settings changes = { .cpus = 1 };
	const struct node *node;
	bool needs_restart = false;

	free(begin_round(0));
	ASSERT_INT(three_nodes(), 0);
	ASSERT_OK(profile_load("test", &profile, &err));
	ASSERT_OK(cluster_change_node(&profile, "node-3", &changes, &needs_restart, &err));
	ASSERT(!needs_restart && !is_outdated("node-3"));
	/* The kubelet of one that is paused can't be restarted. */
	node = profile_find_node(&profile, "node-2");
	ASSERT_INT(cluster_pause(&profile, node, true, NULL, NULL), 1);
	ASSERT_OK(cluster_change_node(&profile, "node-2", &changes, &needs_restart, &err));
	ASSERT_INT(cluster_pause(&profile, node, false, NULL, NULL), 1);
	ASSERT(needs_restart && is_outdated("node-2") && !is_outdated("node-3"));
	ASSERT_INT(start_all(), 0);
	ASSERT(is_outdated("node-2"));
	ASSERT_INT(stop_named("node-2"), 0);
	ASSERT_INT(start_second(), 0);
	ASSERT(!is_outdated("node-2"));
}

/* Starting and stopping. */

static void only_second_comes(void)
{
	ASSERT_INT(start_second(), 0);
	assert_world(UP MEMBERS "running:node-1 running:node-2");
	assert_profile(FIRST "; " SECOND "; " THIRD);
}

TEST(a_started_node_leaves_the_others_stopped_also_cut_short)
{
	cut_short(workers_stopped, start_second, only_second_comes, 3);
}

static void stop_leaves_second(void)
{
	ASSERT_INT(stop_two(), 0);
	assert_world(UP MEMBERS "running:node-2");
	ASSERT_INT(start_named("node-1"), 0);
	assert_world(UP MEMBERS "running:node-1 running:node-2");
	start_makes_three();
}

TEST(stopping_nodes_cut_short_is_finished_by_the_next)
{
	cut_short(three_nodes, stop_two, stop_leaves_second, 2);
}

static void stop_and_start_lose_nothing(void)
{
	ASSERT_INT(stop_all(), 0);
	assert_world(NO_NODES);
	assert_profile(FIRST "; " SECOND "; " THIRD);
	ASSERT_INT(stop_all(), 0);
	start_makes_three();
}

TEST(a_stop_cut_short_is_finished_by_the_next_and_loses_nothing)
{
	cut_short(three_nodes, stop_all, stop_and_start_lose_nothing, 2);
}

TEST(a_stop_cut_short_is_undone_by_start)
{
	cut_short(three_nodes, stop_all, start_makes_three, 2);
}

static int three_stopped_nodes(void)
{
	int r = three_nodes();

	return r < 0 ? r : stop_all();
}

TEST(a_start_of_a_stopped_cluster_cut_short_is_finished_by_the_next)
{
	cut_short(three_stopped_nodes, start_all, start_makes_three, 5);
}

static int drain_second(void)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	int r;

	strlist_add(&names, "node-2");
	ASSERT_OK(profile_load("test", &profile, &err));
	r = drain_nodes(&profile, &names, DRAIN_CONTROLLED, 10, NULL, NULL);
	if (r == 0)
		r = cluster_stop_nodes(&profile, &names, NULL, NULL);
	return MIN(r, 0);
}

static void second_gets_pods_again(void)
{
	ASSERT_INT(drain_second(), 0);
	assert_world("bridge:mktest drained:node-2 etcd:node-1 front-door kubeconfig " MEMBERS
		     "running:node-1 running:node-3");
	/* Only when it comes back itself. */
	ASSERT_INT(start_named("node-3"), 0);
	assert_world("bridge:mktest drained:node-2 etcd:node-1 front-door kubeconfig " MEMBERS
		     "running:node-1 running:node-3");
	ASSERT_INT(start_second(), 0);
	assert_three();
}

TEST(a_node_that_was_drained_to_be_stopped_gets_pods_when_it_is_back)
{
	cut_short(three_nodes, drain_second, second_gets_pods_again, 2);
}

static int drained_second(void)
{
	int r = three_nodes();

	return r < 0 ? r : drain_second();
}

TEST(a_start_of_a_drained_node_cut_short_is_finished_by_start)
{
	cut_short(drained_second, start_second, start_makes_three, 3);
}

TEST(pods_without_a_controller_stay_on_a_node_that_is_drained_to_be_stopped)
{
	free(begin_round(0));
	ASSERT_INT(three_nodes(), 0);
	fake_world_add("pod:node-2:DaemonSet:proxy");
	fake_world_add("pod:node-2:ReplicaSet:web");
	fake_world_add("pod:node-2::alone");
	fake_world_add("pod:node-3:ReplicaSet:other");
	ASSERT_INT(drain_second(), 0);
	assert_world("bridge:mktest drained:node-2 etcd:node-1 front-door kubeconfig " MEMBERS
		     "pod:node-2::alone pod:node-2:DaemonSet:proxy pod:node-3:ReplicaSet:other "
		     "running:node-1 running:node-3");
}

static unsigned evictions;

static void count_eviction(arg_unused struct observer *observer)
{
	evictions++;
}

static void ignore_begin(arg_unused struct observer *observer, arg_unused const char *step,
			 arg_unused const char *node)
{
}

static void ignore_end(arg_unused struct observer *observer, arg_unused const char *step,
		       arg_unused const char *node, arg_unused bool ok)
{
}

static int drain_second_because(struct error *why)
{
	struct observer observer = { .begin = ignore_begin,
				     .end = ignore_end,
				     .evicted = count_eviction };
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;

	strlist_add(&names, "node-2");
	ASSERT_OK(profile_load("test", &profile, &err));
	return drain_nodes(&profile, &names, DRAIN_CONTROLLED, 1, &observer, why);
}

TEST(who_drains_learns_that_a_pod_was_evicted)
{
	free(begin_round(0));
	ASSERT_INT(three_nodes(), 0);
	fake_world_add("pod:node-2:DaemonSet:proxy");
	ASSERT_INT(drain_second_because(NULL), 0);
	ASSERT_INT(evictions, 0);
	fake_world_add("pod:node-2:ReplicaSet:web");
	ASSERT_INT(drain_second_because(NULL), 0);
	ASSERT_INT(evictions, 1);
}

TEST(a_pod_that_can_not_be_moved_is_named_with_the_reason)
{
	cleanup_with(error_clear) struct error why = ERROR_INIT;

	free(begin_round(0));
	ASSERT_INT(three_nodes(), 0);
	fake_world_add("pod:node-2:ReplicaSet:web");
	fake_world_add("budget:web");
	ASSERT_INT(drain_second_because(&why), -EBUSY);
	ASSERT(strstr(why.text, "cannot evict pod 'default/web': it would violate"));
	ASSERT_INT(evictions, 0);
}

TEST(an_api_that_takes_its_time_does_not_extend_draining)
{
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	int64_t began_ms;

	free(begin_round(0));
	ASSERT_INT(three_nodes(), 0);
	for (unsigned i = 0; i < 20; i++) {
		cleanup_free char *pod = xasprintf("pod:node-2:ReplicaSet:web%u", i);
		cleanup_free char *budget = xasprintf("budget:web%u", i);
		cleanup_free char *slow = xasprintf("slow:web%u", i);

		fake_world_add(pod);
		fake_world_add(budget);
		fake_world_add(slow);
	}
	began_ms = clock_now_ms();
	ASSERT_INT(drain_second_because(&why), -EBUSY);
	ASSERT(clock_now_ms() - began_ms < 20 * 1000);
}

TEST(a_paused_node_or_control_plane_is_not_drained_but_named_at_once)
{
	cleanup_with(error_clear) struct error of_node = ERROR_INIT;
	cleanup_with(error_clear) struct error of_control_plane = ERROR_INIT;

	free(begin_round(0));
	ASSERT_INT(three_nodes(), 0);
	fake_world_add("frozen:node-2");
	ASSERT_INT(drain_second_because(&of_node), -EBUSY);
	ASSERT(of_node.reason == &reason_node_paused);
	fake_world_add("frozen:node-1");
	ASSERT_INT(drain_second_because(&of_control_plane), -EBUSY);
	ASSERT(of_control_plane.reason == &reason_api_not_running);
	ASSERT(strstr(of_control_plane.hint, "'manykube unpause'"));
}

TEST(pods_that_are_lost_with_a_node_are_those_without_a_controller)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_with(strlist_release) struct strlist lost = STRLIST_INIT;
	cleanup_free char *text = NULL;

	free(begin_round(0));
	ASSERT_INT(three_nodes(), 0);
	fake_world_add("pod:node-3:DaemonSet:proxy");
	fake_world_add("pod:node-3:ReplicaSet:web");
	fake_world_add("pod:node-3::alone");
	fake_world_add("pod:node-2::elsewhere");
	ASSERT_OK(profile_load("test", &profile, &err));
	ASSERT_INT(drain_list_bare(&profile, "node-3", &lost), 0);
	text = strlist_join(&lost, " ");
	ASSERT_STR(text, "default/alone");
	ASSERT_OK(cluster_remove_node(&profile, "node-3", false, 10, NULL, &api_knows, &err));
	assert_world("bridge:mktest drained:node-3 etcd:node-1 front-door kubeconfig member:node-1 "
		     "member:node-2 pod:node-2::elsewhere running:node-1 running:node-2");
}

TEST(volumes_that_are_lost_with_a_node_are_those_on_it)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_with(strlist_release) struct strlist lost = STRLIST_INIT;
	cleanup_free char *text = NULL;

	free(begin_round(0));
	ASSERT_INT(three_nodes(), 0);
	fake_world_add("volume:node-2:elsewhere");
	fake_world_add("volume:node-3:data");
	ASSERT_OK(profile_load("test", &profile, &err));
	ASSERT_INT(drain_list_volumes(&profile, "node-3", &lost), 0);
	text = strlist_join(&lost, " ");
	ASSERT_STR(text, "default/data");
	fake_world_add("hung:front-door");
	ASSERT_INT(drain_list_volumes(&profile, "node-3", &lost), -ETIMEDOUT);
	ASSERT_INT(lost.count, 1);
}

TEST(a_node_of_a_paused_cluster_is_not_deleted_unless_by_force)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_with(error_clear) struct error why = ERROR_INIT;

	free(begin_round(0));
	ASSERT_INT(three_nodes(), 0);
	fake_world_add("frozen:node-1");
	ASSERT_OK(profile_load("test", &profile, &err));
	ASSERT_INT(cluster_remove_node(&profile, "node-3", false, 10, NULL, &api_knows, &why),
		   -EBUSY);
	ASSERT(strstr(why.hint, "'manykube unpause'"));
	ASSERT_OK(cluster_remove_node(&profile, "node-3", true, 0, NULL, &api_knows, &err));
	ASSERT(api_knows);
}

/* Deleting. */

/* The profile is the last to forget a node: then there is nothing to be finished. */
static void finish_delete(void)
{
	int r = delete_third();

	ASSERT(r == 0 || r == -ENOENT);
}

static void delete_leaves_two(void)
{
	finish_delete();
	assert_two();
	ASSERT_INT(add("node-3", 1), 0);
	assert_three();
}

TEST(a_node_delete_cut_short_is_finished_by_the_next_and_the_name_is_free)
{
	cut_short(three_nodes, delete_third, delete_leaves_two, 3);
}

static void start_leaves_half_deleted(void)
{
	/* It brings nothing back that was to go. */
	ASSERT_INT(start_all(), 0);
	delete_leaves_two();
}

TEST(a_node_delete_cut_short_is_not_undone_by_start)
{
	cut_short(three_nodes, delete_third, start_leaves_half_deleted, 3);
}

TEST(a_half_deleted_node_can_only_be_deleted)
{
	cleanup_free char *dir = begin_round(0);

	ASSERT_INT(three_nodes(), 0);
	ASSERT(!run_until(dir, 1, delete_third));
	ASSERT_INT(start_named("node-3"), -EINVAL);
	ASSERT_INT(stop_all(), 0);
	ASSERT_INT(start_all(), 0);
	assert_world(UP MEMBERS "running:node-1 running:node-2");
	delete_leaves_two();
}

static void start_forgets_third(void)
{
	finish_delete();
	assert_world(UP MEMBERS "running:node-2");
	assert_profile(FIRST "; " SECOND "; orphan node-3");
	ASSERT_INT(start_all(), 0);
	assert_two();
}

TEST(a_node_deleted_without_the_api_is_forgotten_with_the_next_start)
{
	cut_short(control_plane_stopped, delete_third, start_forgets_third, 3);
}

TEST(only_a_member_deleted_without_the_api_is_worth_a_word)
{
	free(begin_round(0));
	ASSERT_INT(control_plane_stopped(), 0);
	ASSERT_INT(add("spare", 1), 0);
	ASSERT_INT(delete_named("spare"), 0);
	ASSERT(!api_knows);
	ASSERT_INT(delete_third(), 0);
	ASSERT(api_knows);
}

static void third_is_made_anew(void)
{
	finish_delete();
	ASSERT_INT(add("node-3", 1), 0);
	/* It would not be let in if the API still knew the old one. */
	ASSERT_INT(start_all(), 0);
	assert_three();
}

TEST(the_name_of_a_node_deleted_without_the_api_can_be_used_again_at_once)
{
	cut_short(control_plane_stopped, delete_third, third_is_made_anew, 3);
}

static int forgetting_start(void)
{
	return start_all();
}

static int an_orphan_with_a_successor(void)
{
	int r = control_plane_stopped();

	if (r == 0)
		r = delete_third();
	return r < 0 ? r : add("node-3", 1);
}

TEST(forgetting_a_node_cut_short_does_not_forget_its_successor)
{
	cut_short(an_orphan_with_a_successor, forgetting_start, start_makes_three, 5);
}

static void half_made_goes(void)
{
	ASSERT_INT(delete_named("node-2"), 0);
	ASSERT_INT(delete_named("node-3"), 0);
	assert_world(UP "member:node-1 running:node-1");
	assert_profile(FIRST);
	ASSERT_INT(add_two(), 0);
	assert_three();
}

TEST(a_half_made_node_can_be_deleted)
{
	cut_short(one_node, add_two, half_made_goes, 5);
}

static void half_made_goes_without_api(void)
{
	ASSERT_INT(stop_all(), 0);
	ASSERT_INT(delete_named("node-2"), 0);
	ASSERT_INT(delete_named("node-3"), 0);
	ASSERT_INT(add_two(), 0);
	start_makes_three();
}

TEST(a_half_made_node_can_be_deleted_without_the_api)
{
	cut_short(one_node, add_two, half_made_goes_without_api, 5);
}

TEST(the_only_control_plane_can_not_be_deleted)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_with(error_clear) struct error why = ERROR_INIT;

	free(begin_round(0));
	ASSERT_INT(three_nodes(), 0);
	ASSERT_OK(profile_load("test", &profile, &err));
	ASSERT_INT(cluster_remove_node(&profile, "node-1", false, 0, NULL, &api_knows, &why),
		   -EINVAL);
	ASSERT(why.reason == &reason_usage);
	ASSERT(!strstr(error_advice(&why), "delete"));
	ASSERT(strstr(error_advice(&why), "'manykube node add --control-plane'"));
	assert_three();
}

TEST(a_node_is_drained_before_it_goes)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;

	free(begin_round(0));
	ASSERT_INT(three_nodes(), 0);
	ASSERT_OK(profile_load("test", &profile, &err));
	ASSERT_OK(cluster_remove_node(&profile, "node-3", false, 10, NULL, &api_knows, &err));
	assert_world("bridge:mktest drained:node-3 etcd:node-1 front-door kubeconfig member:node-1 "
		     "member:node-2 running:node-1 running:node-2");
}

static unsigned failed_steps;

static void count_failure(arg_unused struct observer *observer, arg_unused const char *step,
			  arg_unused const char *node, bool ok)
{
	failed_steps += !ok;
}

TEST(pods_that_do_not_end_in_time_are_killed_with_their_node_and_nothing_has_failed)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	struct observer observer = { .begin = ignore_begin, .end = count_failure };

	free(begin_round(0));
	ASSERT_INT(three_nodes(), 0);
	fake_world_add("pod:node-3:ReplicaSet:web");
	fake_world_add("budget:web");
	ASSERT_OK(profile_load("test", &profile, &err));
	failed_steps = 0;
	ASSERT_OK(cluster_remove_node(&profile, "node-3", false, 1, &observer, &api_knows, &err));
	ASSERT_INT(failed_steps, 0);
	/* By default there is time for pods that have to be killed. */
	ASSERT(DRAIN_DELETE_SECONDS > 30);
}

TEST(a_node_that_does_not_run_is_not_drained)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;

	free(begin_round(0));
	ASSERT_INT(three_nodes(), 0);
	ASSERT_INT(stop_named("node-3"), 0);
	ASSERT_OK(profile_load("test", &profile, &err));
	ASSERT_OK(cluster_remove_node(&profile, "node-3", false, 10, NULL, &api_knows, &err));
	assert_two();
}

TEST(a_cluster_with_stopped_and_half_made_nodes_leaves_nothing)
{
	for (unsigned n = 1;; n++) {
		cleanup_free char *dir = begin_round(n);
		bool ended;

		ASSERT(n < MANY);
		ASSERT_INT(start_nodes(2), 0);
		ASSERT_INT(stop_named("node-2"), 0);
		ended = run_until(dir, n, add_two);
		ASSERT_INT(cluster_delete("test", NULL, NULL), 0);
		assert_world("");
		if (ended)
			return;
	}
}

TEST(nodes_of_a_cluster_of_both_families_have_both)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_with(profile_release) struct profile again = PROFILE_INIT;
	struct cluster_outcome outcome;

	free(begin_round(0));
	ASSERT_INT(
		start_with((struct cluster_options){ .nodes = 2, .ip_family = "dual" }, &outcome),
		0);
	ASSERT_OK(profile_load("test", &profile, &err));
	ASSERT_STR(profile.nodes[1].address6, "fd12:3456:789a::3");
	ASSERT_STR(profile.nodes[1].pod_cidr6, "fd12:3456:789a:103::/64");
	ASSERT_INT(stop_all(), 0);
	ASSERT_INT(start_nodes(3), 0);
	ASSERT_OK(profile_load("test", &again, &err));
	ASSERT_STR(again.ipv6_prefix, profile.ipv6_prefix);
	ASSERT_STR(again.nodes[1].address6, profile.nodes[1].address6);
	ASSERT_STR(again.nodes[2].address6, "fd12:3456:789a::4");
	/* Families are for good. */
	ASSERT_INT(start_with((struct cluster_options){ .ip_family = "ipv4" }, &outcome), -EINVAL);
}
