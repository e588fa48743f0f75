/* Control planes that come and go in a fake world: whole, and ended after every single step. */

#include "base/clock.h"
#include "cluster/cluster.h"
#include "fake-world.h"
#include "kubeadm/drain.h"
#include "kubeadm/members.h"
#include "node/node-files.h"
#include "record/options.h"
#include "rounds.h"
#include "test.h"

static int start_with(struct cluster_options options)
{
	struct cluster_outcome outcome;

	options.kubernetes_version = "v1.36.3";
	options.wait = WAIT_API | WAIT_NODES;
	options.wait_seconds = 20;
	return cluster_start("test", &options, NULL, &outcome, NULL);
}

static int start_planes(unsigned control_planes, unsigned nodes)
{
	return start_with(
		(struct cluster_options){ .control_planes = control_planes, .nodes = nodes });
}

static int start_all(void)
{
	return start_planes(0, 0);
}

static int one_plane(void)
{
	return start_planes(1, 1);
}

static int two_planes(void)
{
	return start_planes(2, 2);
}

static int three_planes(void)
{
	return start_planes(3, 3);
}

static int start_named(const char *name)
{
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;

	strlist_add(&names, name);
	return start_with((struct cluster_options){ .only = &names });
}

static int add_plane(void)
{
	static const struct node_options plane = { .control_plane = true };
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;

	return start_with(
		(struct cluster_options){ .add = &plane, .add_count = 1, .only = &names });
}

static int stop_named(const char *name, bool keep_member)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	int r;

	ASSERT_OK(profile_load("test", &profile, &err));
	strlist_add(&names, name);
	r = cluster_leave_to_stop(&profile, &names, keep_member, NULL, NULL);
	if (r == 0)
		r = cluster_stop_nodes(&profile, &names, NULL, NULL);
	return MIN(r, 0);
}

static int stop_all(void)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	int r;

	ASSERT_OK(profile_load("test", &profile, &err));
	r = cluster_stop(&profile, false, NULL, NULL);
	return MIN(r, 0);
}

static int delete_named(const char *name)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	bool api_knows;

	ASSERT_OK(profile_load("test", &profile, &err));
	return cluster_remove_node(&profile, name, false, 0, NULL, &api_knows, NULL);
}

static int stop_first(void)
{
	return stop_named("node-1", false);
}

static int delete_first(void)
{
	return delete_named("node-1");
}

static int delete_third(void)
{
	return delete_named("node-3");
}

static void assert_primary(const char *name)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	const struct node *node;
	unsigned count = 0;

	ASSERT_OK(profile_load("test", &profile, &err));
	profile_for_each_node(node, &profile)
		count += node->primary;
	ASSERT_INT(count, 1);
	ASSERT_STR(profile_primary(&profile)->name, name);
}

#define FIRST  "node-1 joined 192.168.39.2 10.244.0.0/24"
#define SECOND "node-2 joined 192.168.39.3 10.244.1.0/24"
#define THIRD  "node-3 joined 192.168.39.4 10.244.2.0/24"

static void assert_two(void)
{
	assert_world("bridge:mktest etcd:node-1 etcd:node-2 front-door kubeconfig member:node-1 "
		     "member:node-2 running:node-1 running:node-2");
	assert_profile(FIRST "; " SECOND);
}

static void assert_three(void)
{
	assert_world("bridge:mktest etcd:node-1 etcd:node-2 etcd:node-3 front-door kubeconfig "
		     "member:node-1 member:node-2 member:node-3 running:node-1 running:node-2 "
		     "running:node-3");
	assert_profile(FIRST "; " SECOND "; " THIRD);
}

TEST(the_last_control_plane_that_runs_is_not_called_the_only_one)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	bool api_knows;

	free(begin_round(0));
	ASSERT_INT(three_planes(), 0);
	ASSERT_OK(profile_load("test", &profile, &err));
	/* As after stopping them. */
	profile.nodes[1].phase = profile.nodes[2].phase = NODE_PLANNED;
	ASSERT_INT(cluster_remove_node(&profile, "node-1", false, 10, NULL, &api_knows, &why),
		   -EINVAL);
	ASSERT(strstr(why.text, "that is not stopped"));
	ASSERT(strstr(why.hint, "'manykube node start NAME'"));
}

TEST(control_planes_join_one_after_another_and_leave_no_token)
{
	cleanup_with(strlist_release) struct strlist all = STRLIST_INIT;

	free(begin_round(1));
	ASSERT_INT(three_planes(), 0);
	assert_three();
	assert_primary("node-1");
	fake_world_list(&all);
	ASSERT_INT(all.count, 12);
	ASSERT_INT(start_all(), 0);
	assert_three();
}

TEST(a_start_of_three_cut_short_is_finished_by_the_next)
{
	for (unsigned n = 1; n < MANY; n++) {
		cleanup_free char *dir = begin_round(n);
		bool ended = run_until(dir, n, three_planes);

		ASSERT_INT(three_planes(), 0);
		assert_three();
		assert_primary("node-1");
		if (ended)
			return;
	}
	ASSERT(!"there is no end of steps");
}

TEST(the_nodes_grow_to_fit_the_control_planes)
{
	free(begin_round(1));
	ASSERT_INT(start_planes(2, 1), 0);
	assert_two();
	ASSERT_INT(start_planes(3, 2), 0);
	assert_three();
	ASSERT_INT(start_planes(2, 0), -EINVAL);
}

static void check_add(void)
{
	ASSERT_INT(start_all(), 0);
	/* Cut short before it was written down, there is nothing to go on with. */
	if (start_planes(0, 2) == 0)
		ASSERT_INT(start_planes(2, 0), 0);
}

static void check_added(void)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;

	check_add();
	ASSERT_OK(profile_load("test", &profile, &err));
	if (profile.node_count == 2)
		assert_two();
	else
		assert_three();
}

TEST(a_control_plane_added_and_cut_short_is_finished_by_start)
{
	cut_short(one_plane, add_plane, check_added, 6);
}

/* The first is stopped, and does not vote any more; started, it is what it was. */
static void check_stopped_first(void)
{
	ASSERT_INT(stop_first(), 0);
	assert_world("bridge:mktest etcd:node-2 front-door kubeconfig member:node-1 member:node-2 "
		     "running:node-2");
	assert_primary("node-2");
	ASSERT_INT(start_named("node-1"), 0);
	assert_two();
	assert_primary("node-2");
}

TEST(two_survive_the_stop_of_the_primary_also_cut_short)
{
	cut_short(two_planes, stop_first, check_stopped_first, 4);
}

static void check_start_after_stop(void)
{
	ASSERT_INT(start_all(), 0);
	assert_two();
}

TEST(a_stop_of_the_primary_cut_short_is_undone_by_start)
{
	cut_short(two_planes, stop_first, check_start_after_stop, 4);
}

static int first_stopped(void)
{
	int r = two_planes();

	return r < 0 ? r : stop_first();
}

static int start_first(void)
{
	return start_named("node-1");
}

static void check_started_first(void)
{
	ASSERT_INT(start_first(), 0);
	assert_two();
	assert_primary("node-2");
}

TEST(joining_again_cut_short_is_finished_by_the_next)
{
	cut_short(first_stopped, start_first, check_started_first, 6);
}

/* Whatever becomes of us, API servers go on, if only a moment later. */
static void assert_nobody_held(void)
{
	static const char *const names[] = { "node-1", "node-2", "node-3" };
	int64_t deadline = clock_now_ms() + 10000;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		while (fake_world_holds(names[i])) {
			ASSERT(clock_now_ms() < deadline);
			clock_rest_ms(1);
		}
}

static void check_deleted_first(void)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;

	assert_nobody_held();
	ASSERT_OK(profile_load("test", &profile, &err));
	if (profile_find_node(&profile, "node-1"))
		ASSERT_INT(delete_first(), 0);
	else
		ASSERT_INT(start_all(), 0);
	assert_world("bridge:mktest etcd:node-2 etcd:node-3 front-door kubeconfig member:node-2 "
		     "member:node-3 running:node-2 running:node-3");
	assert_profile(SECOND "; " THIRD);
	assert_primary("node-2");
}

TEST(the_primary_deleted_and_cut_short_is_deleted_by_the_next)
{
	cut_short(three_planes, delete_first, check_deleted_first, 10);
}

/* What has happened since the last call. */
static char *news(void)
{
	static size_t before;
	cleanup_free char *all = fake_world_history();
	char *new = xstrdup(all + MIN(before, strlen(all)));

	before = strlen(all);
	return new;
}

static void assert_news(const char *expected)
{
	cleanup_free char *text = news();

	ASSERT_STR(text, expected);
}

#define HANDED_OVER(name, next) \
	"; close door to " name " ; lead " next " " name "; end API of " name " v1.36.3"

TEST(one_that_goes_hands_over_first_and_all_do_not)
{
	free(begin_round(1));
	ASSERT_INT(three_planes(), 0);
	free(news());
	ASSERT_INT(stop_first(), 0);
	assert_news(HANDED_OVER("node-1", "node-2"));
	ASSERT_INT(start_named("node-1"), 0);
	free(news());
	/* It keeps its member, and the others are enough. */
	ASSERT_INT(stop_named("node-2", true), 0);
	assert_news(HANDED_OVER("node-2", "node-1"));
	ASSERT_INT(start_named("node-2"), 0);
	free(news());
	/* One that does not lead. */
	ASSERT_INT(delete_third(), 0);
	assert_news("; close door to node-3 ; end API of node-3 v1.36.3");
	/* The other one alone would be no majority: there is nobody to hand over to. */
	ASSERT_INT(stop_all(), 0);
	assert_news("");
}

TEST(one_that_fails_to_join_is_tried_once_more)
{
	free(begin_round(1));
	fake_world_failing_joins = 1;
	ASSERT_INT(two_planes(), 0);
	assert_two();
	fake_world_failing_joins = 2;
	ASSERT_INT(add_plane(), -EIO);
	ASSERT_INT(start_all(), 0);
	assert_three();
}

static int with_worker(void)
{
	return start_planes(1, 2);
}

static bool is_there(const char *what)
{
	cleanup_with(strlist_release) struct strlist all = STRLIST_INIT;

	fake_world_list(&all);
	return strlist_has(&all, what);
}

TEST(a_worker_whose_kernel_hangs_while_it_joins_is_started_again_once)
{
	free(begin_round(1));
	fake_world_add("hung-kernel:node-2");
	ASSERT_INT(with_worker(), 0);
	ASSERT(is_there("member:node-2"));
	free(begin_round(2));
	fake_world_add("bad-kernel:node-2");
	ASSERT_INT(with_worker(), -EIO);
	ASSERT(!is_there("member:node-2"));
	fake_world_remove("bad-kernel:node-2");
	ASSERT_INT(start_all(), 0);
	ASSERT(is_there("member:node-2"));
}

TEST(one_leaves_when_etcd_lets_it_go)
{
	free(begin_round(1));
	ASSERT_INT(three_planes(), 0);
	fake_world_unsettled = 2;
	ASSERT_INT(delete_first(), 0);
	ASSERT_INT(fake_world_unsettled, 0);
	assert_primary("node-2");
}

TEST(one_of_three_can_be_deleted_while_nothing_runs)
{
	free(begin_round(1));
	ASSERT_INT(three_planes(), 0);
	ASSERT_INT(stop_all(), 0);
	ASSERT_INT(delete_first(), 0);
	/* Two of three are a majority, one of two is none. */
	ASSERT_INT(delete_third(), -EAGAIN);
	ASSERT_INT(start_all(), 0);
	assert_world("bridge:mktest etcd:node-2 etcd:node-3 front-door kubeconfig member:node-2 "
		     "member:node-3 running:node-2 running:node-3");
	assert_primary("node-2");
}

TEST(one_three_one)
{
	free(begin_round(1));
	ASSERT_INT(one_plane(), 0);
	ASSERT_INT(add_plane(), 0);
	ASSERT_INT(add_plane(), 0);
	assert_three();
	ASSERT_INT(delete_first(), 0);
	ASSERT_INT(delete_named("node-2"), 0);
	assert_world("bridge:mktest etcd:node-3 front-door kubeconfig member:node-3 "
		     "running:node-3");
	assert_primary("node-3");
	ASSERT_INT(delete_third(), -EINVAL);
	ASSERT_INT(stop_named("node-3", false), 0);
	ASSERT_INT(start_all(), 0);
	assert_profile(THIRD);
}

TEST(a_member_is_kept_only_while_the_others_are_a_majority)
{
	free(begin_round(1));
	ASSERT_INT(three_planes(), 0);
	ASSERT_INT(stop_named("node-1", true), 0);
	assert_primary("node-1");
	assert_world("bridge:mktest etcd:node-1 etcd:node-2 etcd:node-3 front-door kubeconfig "
		     "member:node-1 member:node-2 member:node-3 running:node-2 running:node-3");
	ASSERT_INT(stop_named("node-2", true), -EAGAIN);
	/* Two members of which one runs would be no majority either. */
	ASSERT_INT(stop_named("node-2", false), -EAGAIN);
	ASSERT_INT(delete_named("node-2"), -EAGAIN);
	ASSERT_INT(delete_first(), 0);
	ASSERT_INT(stop_named("node-2", false), 0);
	ASSERT_INT(start_all(), 0);
	assert_profile(SECOND "; " THIRD);
}

/* The kubelet of NODE asks the API at ADDRESS. */
static void assert_kubelet_asks(const char *name, const char *address)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_with(strbuf_release) struct strbuf config = STRBUF_INIT;
	cleanup_free char *line = xasprintf("\n    server: https://%s:6443\n", address);
	const struct node *node;

	ASSERT_OK(profile_load("test", &profile, &err));
	node = profile_find_node(&profile, name);
	ASSERT_OK(node_read(&profile, node, "kubernetes/kubelet.conf", &config, &err));
	if (!strstr(config.text, line))
		test_fail(__FILE__, __LINE__, "'%s' does not ask %s: %s", name, address,
			  config.text);
	/* Nothing else is lost. */
	ASSERT(strstr(config.text, "client-key: /var/lib/kubelet/pki/kubelet-client-current.pem"));
}

/* Stop NAME as if it was killed: it stays a member of etcd. */
static void kill_named(const char *name)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;

	ASSERT_OK(profile_load("test", &profile, &err));
	strlist_add(&names, name);
	ASSERT_INT(cluster_stop_nodes(&profile, &names, NULL, NULL), 1);
}

TEST(a_kubelet_is_not_led_to_an_api_that_waits_for_the_etcd_beside_it)
{
	static const char door[] = "front-door.manykube.internal";

	free(begin_round(0));
	ASSERT_INT(start_planes(2, 3), 0);
	ASSERT_INT(stop_all(), 0);
	ASSERT_INT(start_all(), 0);
	assert_kubelet_asks("node-2", door);
	kill_named("node-2");
	kill_named("node-3");
	ASSERT_INT(start_all(), 0);
	assert_kubelet_asks("node-2", "192.168.39.3");
	assert_kubelet_asks("node-3", door);
	/* One that has left joins anew. */
	ASSERT_INT(stop_named("node-2", false), 0);
	ASSERT_INT(start_named("node-2"), 0);
	assert_kubelet_asks("node-2", door);
}

TEST(a_kubelet_may_ask_any_api_server_of_a_majority)
{
	free(begin_round(0));
	ASSERT_INT(three_planes(), 0);
	kill_named("node-3");
	ASSERT_INT(start_all(), 0);
	assert_kubelet_asks("node-3", "front-door.manykube.internal");
	kill_named("node-2");
	kill_named("node-3");
	ASSERT_INT(start_all(), 0);
	assert_kubelet_asks("node-2", "192.168.39.3");
	assert_kubelet_asks("node-3", "192.168.39.4");
}

TEST(a_stopped_cluster_comes_back_with_all_its_members)
{
	free(begin_round(1));
	ASSERT_INT(three_planes(), 0);
	ASSERT_INT(stop_all(), 0);
	ASSERT_INT(start_named("node-2"), -EINVAL);
	ASSERT_INT(start_all(), 0);
	assert_three();
	assert_primary("node-1");
}

static int two_of_three_killed(void)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	int r = three_planes();

	if (r < 0)
		return r;
	ASSERT_OK(profile_load("test", &profile, &err));
	strlist_add(&names, "node-1");
	strlist_add(&names, "node-3");
	r = cluster_stop_nodes(&profile, &names, NULL, NULL);
	return MIN(r, 0);
}

TEST(an_api_without_a_majority_is_not_asked_for_lists_that_it_cannot_give)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_with(strlist_release) struct strlist lost = STRLIST_INIT;

	free(begin_round(0));
	ASSERT_INT(two_of_three_killed(), 0);
	ASSERT_OK(profile_load("test", &profile, &err));
	ASSERT_INT(drain_list_bare(&profile, "node-3", &lost), -EAGAIN);
	ASSERT_INT(drain_list_volumes(&profile, "node-3", &lost), -EAGAIN);
}

static int recover(void)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	struct node *survivor;
	int r;

	ASSERT_OK(profile_load("test", &profile, &err));
	r = cluster_choose_survivor(&profile, NULL, &survivor, NULL);
	return r < 0 ? r : cluster_recover(&profile, survivor, 5, NULL, NULL);
}

static void check_recovered(void)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	int r = recover();

	/* It may have ended before it was cut short. */
	ASSERT(r == 0 || r == -EINVAL);
	assert_world("bridge:mktest etcd:node-2 front-door kubeconfig member:node-1 member:node-2 "
		     "member:node-3 running:node-2");
	assert_primary("node-2");
	ASSERT_OK(profile_load("test", &profile, &err));
	ASSERT(!profile.recovering);
	ASSERT_INT(start_all(), 0);
	assert_three();
	assert_primary("node-2");
}

TEST(one_of_three_goes_on_alone_and_takes_the_others_in_again_also_cut_short)
{
	cut_short(two_of_three_killed, recover, check_recovered, 2);
}

TEST(stopping_and_making_the_survivor_does_not_count_as_waiting_for_the_api)
{
	free(begin_round(1));
	ASSERT_INT(two_of_three_killed(), 0);
	fake_world_slow_seconds = 3600;
	fake_world_api_seconds = 3;
	check_recovered();
}

TEST(a_recovery_that_has_begun_is_all_that_can_be_done)
{
	cleanup_free char *dir = begin_round(1);

	/* A majority runs: there is nothing to recover. */
	ASSERT_INT(three_planes(), 0);
	ASSERT_INT(recover(), -EINVAL);
	ASSERT_INT(two_of_three_killed(), 0);
	ASSERT(!run_until(dir, 1, recover));
	ASSERT_INT(start_all(), -EBUSY);
	ASSERT_INT(recover(), 0);
	ASSERT_INT(start_all(), 0);
	assert_three();
}

TEST(what_is_only_paused_is_not_recovered)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	struct node *survivor;

	free(begin_round(1));
	ASSERT_INT(three_planes(), 0);
	ASSERT_OK(profile_load("test", &profile, &err));
	ASSERT_INT(cluster_pause(&profile, &profile.nodes[1], true, NULL, NULL), 1);
	ASSERT_INT(cluster_pause(&profile, &profile.nodes[2], true, NULL, NULL), 1);
	ASSERT_INT(cluster_choose_survivor(&profile, NULL, &survivor, &why), -EBUSY);
	ASSERT_STR(error_advice(&why), "'manykube unpause' resumes the paused ones");
	error_clear(&why);
	ASSERT_INT(cluster_may_leave(&profile, &profile.nodes[0], &why), -EAGAIN);
	ASSERT_STR(error_advice(&why), "'manykube unpause' resumes the paused ones");
	error_clear(&why);
	ASSERT_INT(cluster_pause(&profile, &profile.nodes[2], false, NULL, NULL), 1);
	ASSERT_INT(cluster_may_leave(&profile, &profile.nodes[0], &why), -EAGAIN);
	ASSERT_STR(error_advice(&why), "'manykube unpause' resumes the paused ones");
}

TEST(a_lost_control_plane_is_let_go_only_by_force)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	bool api_knows;

	free(begin_round(1));
	ASSERT_INT(two_of_three_killed(), 0);
	ASSERT_INT(delete_first(), -EAGAIN);
	ASSERT_OK(profile_load("test", &profile, &err));
	ASSERT_OK(cluster_remove_node(&profile, "node-1", true, 0, NULL, &api_knows, &err));
	ASSERT(api_knows);
	ASSERT_INT(recover(), 0);
	ASSERT_INT(start_all(), 0);
	assert_world("bridge:mktest etcd:node-2 etcd:node-3 front-door kubeconfig member:node-2 "
		     "member:node-3 running:node-2 running:node-3");
	assert_profile(SECOND "; " THIRD);
}

/* etcd counts the member that nobody could take out, although its node is gone. */
TEST(what_is_left_after_a_majority_was_deleted_by_force_is_recovered)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	struct cluster_outcome outcome;
	struct cluster_options options = { .wait = WAIT_API, .wait_seconds = 5 };
	bool api_knows;

	free(begin_round(1));
	ASSERT_INT(start_planes(2, 2), 0);
	kill_named("node-2");
	ASSERT_OK(profile_load("test", &profile, &err));
	ASSERT_OK(cluster_remove_node(&profile, "node-2", true, 0, NULL, &api_knows, &err));
	ASSERT_INT(cluster_start("test", &options, NULL, &outcome, &why), -EAGAIN);
	ASSERT_STR(why.text, "node-2 was deleted with --force: 1 of 2 members of etcd is left, and "
			     "2 are needed");
	ASSERT(strstr(why.hint, "'manykube node recover'"));
	ASSERT_INT(recover(), 0);
	ASSERT_INT(start_all(), 0);
	assert_world(
		"bridge:mktest etcd:node-1 front-door kubeconfig member:node-1 running:node-1");
	assert_profile(FIRST);
}

/* A member that goes while nothing runs is taken out by the next start. */
TEST(a_member_that_was_deleted_while_all_were_down_is_taken_out_later)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_with(profile_release) struct profile after = PROFILE_INIT;
	bool api_knows;

	free(begin_round(1));
	ASSERT_INT(three_planes(), 0);
	ASSERT_INT(stop_all(), 0);
	ASSERT_OK(profile_load("test", &profile, &err));
	ASSERT_OK(cluster_remove_node(&profile, "node-3", false, 0, NULL, &api_knows, &err));
	ASSERT_INT(profile.lost_members.count, 1);
	ASSERT_INT(start_all(), 0);
	ASSERT_OK(profile_load("test", &after, &err));
	ASSERT_INT(after.lost_members.count, 0);
	assert_world("bridge:mktest etcd:node-1 etcd:node-2 front-door kubeconfig member:node-1 "
		     "member:node-2 running:node-1 running:node-2");
}

TEST(no_way_out_is_suggested_that_is_refused)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	cleanup_with(error_clear) struct error why = ERROR_INIT;

	free(begin_round(1));
	ASSERT_INT(three_planes(), 0);
	kill_named("node-1");
	ASSERT_OK(profile_load("test", &profile, &err));
	strlist_add(&names, "node-2");
	ASSERT_INT(cluster_leave_to_stop(&profile, &names, true, NULL, &why), -EAGAIN);
	ASSERT(!strstr(why.hint, "--keep-member"));
}

TEST(many_control_planes_need_force)
{
	free(begin_round(1));
	ASSERT_INT(start_planes(8, 8), -ERANGE);
	ASSERT_INT(start_with((struct cluster_options){ .control_planes = 8, .force = true }), 0);
}
