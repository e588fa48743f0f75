/* The cluster's logic in a fake world: whole, and ended after every single step. */

#include <sys/wait.h>

#include "base/file.h"
#include "cluster/cluster.h"
#include "fake-world.h"
#include "record/options.h"
#include "test.h"

#define MANY 200

static const struct cluster_options three_nodes = {
	.nodes = 3,
	.kubernetes_version = "v1.36.3",
	.wait = WAIT_API | WAIT_NODES,
	.wait_seconds = 20,
};

/* A home and a world of its own for round N. */
static char *begin_round(unsigned n)
{
	cleanup_free char *home = xasprintf("%s/home-%u", test_dir(), n);

	ASSERT(setenv("MANYKUBE_HOME", home, 1) == 0);
	return xasprintf("%s/world-%u", test_dir(), n);
}

static int start_again(const struct cluster_options *options)
{
	struct cluster_outcome outcome;

	return cluster_start("test", options, NULL, &outcome, NULL);
}

static int delete_it(void)
{
	return cluster_delete("test", NULL, NULL);
}

static int start_three(void)
{
	return start_again(&three_nodes);
}

/* Do WORK in a process that ends after step CRASH_AT; true if it got to its end before. */
static bool run_until(const char *world_dir, unsigned crash_at, int (*work)(void))
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		fake_world_use(world_dir, crash_at);
		_exit(work() == 0 ? 0 : 1);
	}
	ASSERT(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
	if (WEXITSTATUS(status) == FAKE_CRASHED)
		return false;
	ASSERT_INT(WEXITSTATUS(status), 0);
	return true;
}

static void assert_whole(void)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_with(strlist_release) struct strlist all = STRLIST_INIT;
	cleanup_free char *text = NULL;
	const struct node *node;

	fake_world_list(&all);
	text = strlist_join(&all, " ");
	ASSERT_STR(text,
		   "bridge:mktest etcd:node-1 front-door kubeconfig member:node-1 member:node-2 "
		   "member:node-3 running:node-1 running:node-2 running:node-3");
	ASSERT_OK(profile_load("test", &profile, &err));
	ASSERT_INT(profile.node_count, 3);
	profile_for_each_node(node, &profile)
		ASSERT_INT(node->phase, NODE_JOINED);
}

static void assert_no_trace(void)
{
	cleanup_with(strlist_release) struct strlist all = STRLIST_INIT;
	cleanup_free char *text = NULL;
	cleanup_free char *dir = NULL;

	fake_world_list(&all);
	text = strlist_join(&all, " ");
	ASSERT_STR(text, "");
	ASSERT_OK(profile_dir("test", &dir, &err));
	ASSERT(!file_exists(dir));
}

TEST(a_start_makes_all_of_it)
{
	cleanup_free char *dir = begin_round(0);

	fake_world_use(dir, 0);
	ASSERT_INT(start_again(&three_nodes), 0);
	assert_whole();
	ASSERT_INT(fake_world_inits(), 1);
}

TEST(a_start_waits_for_an_api_that_answers_late)
{
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	cleanup_free char *dir = begin_round(0);
	struct cluster_outcome outcome;

	fake_world_use(dir, 0);
	/* Not for ever; then the next start goes on. */
	fake_world_late_answers = 99;
	ASSERT_INT(cluster_start("test", &three_nodes, NULL, &outcome, &why), -EIO);
	ASSERT(strstr(why.text, "context deadline exceeded"));
	error_clear(&why);
	fake_world_late_answers = 2;
	ASSERT_INT(cluster_start("test", &three_nodes, NULL, &outcome, &why), 0);
	ASSERT_INT(fake_world_late_answers, 0);
	assert_whole();
}

TEST(only_waiting_for_the_cluster_counts_against_its_timeout)
{
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	cleanup_free char *dir = begin_round(0);
	struct cluster_outcome outcome;

	fake_world_use(dir, 0);
	fake_world_slow_seconds = 3600;
	fake_world_api_seconds = 5;
	ASSERT_INT(cluster_start("test", &three_nodes, NULL, &outcome, &why), 0);
	assert_whole();
}

TEST(what_every_start_installs_waits_for_the_api)
{
	cleanup_free char *dir = begin_round(0);

	fake_world_use(dir, 0);
	ASSERT_INT(start_again(&three_nodes), 0);
	fake_world_rights = 0;
	/* Another start was interrupted just now. */
	fake_world_api_seconds = 3;
	ASSERT_INT(start_again(&three_nodes), 0);
	ASSERT_INT(fake_world_rights, 2);
	ASSERT_INT(fake_world_api_seconds, 0);
}

TEST(a_start_does_not_wait_longer_than_it_may)
{
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	cleanup_free char *dir = begin_round(0);
	struct cluster_outcome outcome;

	fake_world_use(dir, 0);
	fake_world_slow_seconds = 3600;
	fake_world_api_seconds = 30;
	ASSERT_INT(cluster_start("test", &three_nodes, NULL, &outcome, &why), -ETIMEDOUT);
	ASSERT_STR(why.text, "the API server did not come up in time");
	ASSERT(fake_world_api_seconds > 5 && fake_world_api_seconds < 15);
	fake_world_api_seconds = 0;
	ASSERT_INT(start_again(&three_nodes), 0);
	assert_whole();
}

TEST(a_second_start_changes_nothing)
{
	cleanup_free char *dir = begin_round(0);

	fake_world_use(dir, 0);
	ASSERT_INT(start_again(&three_nodes), 0);
	ASSERT_INT(start_again(&three_nodes), 0);
	assert_whole();
	ASSERT_INT(fake_world_inits(), 1);
}

TEST(an_offline_cluster_stays_so_until_told_otherwise)
{
	struct cluster_options options = three_nodes;
	cleanup_free char *world_dir = begin_round(0);
	static const struct {
		bool given, offline, expected;
	} starts[] = {
		{ true, true, true },   /* --offline */
		{ false, false, true }, /* nothing said */
		{ true, false, false }, /* --offline=false */
		{ false, false, false },
	};

	fake_world_use(world_dir, 0);
	for (size_t i = 0; i < ARRAY_SIZE(starts); i++) {
		cleanup_with(profile_release) struct profile profile = PROFILE_INIT;

		options.given.offline = starts[i].given;
		options.offline = starts[i].offline;
		ASSERT_INT(start_again(&options), 0);
		ASSERT_OK(profile_load("test", &profile, &err));
		ASSERT_INT(profile.offline, starts[i].expected);
	}
}

TEST(a_start_with_more_nodes_adds_them)
{
	struct cluster_options one_node = three_nodes;
	cleanup_free char *dir = begin_round(0);

	one_node.nodes = 1;
	fake_world_use(dir, 0);
	ASSERT_INT(start_again(&one_node), 0);
	ASSERT_INT(start_again(&three_nodes), 0);
	assert_whole();
	ASSERT_INT(fake_world_inits(), 1);
	/* And never takes one away. */
	ASSERT_INT(start_again(&one_node), -EINVAL);
	assert_whole();
}

TEST(a_start_cut_short_after_any_step_is_finished_by_the_next)
{
	for (unsigned n = 1; n < MANY; n++) {
		cleanup_free char *dir = begin_round(n);
		bool ended = run_until(dir, n, start_three);

		fake_world_use(dir, 0);
		ASSERT_INT(start_again(&three_nodes), 0);
		assert_whole();
		if (ended) {
			/* There were steps to be cut short at, or this test tests nothing. */
			ASSERT(n > 10);
			return;
		}
	}
	ASSERT(!"there is no end of steps");
}

TEST(a_start_cut_short_after_any_step_can_be_deleted)
{
	for (unsigned n = 1; n < MANY; n++) {
		cleanup_free char *dir = begin_round(n);
		bool ended = run_until(dir, n, start_three);

		fake_world_use(dir, 0);
		ASSERT_INT(delete_it(), 0);
		assert_no_trace();
		if (ended)
			return;
	}
	ASSERT(!"there is no end of steps");
}

TEST(a_delete_cut_short_after_any_step_is_finished_by_the_next)
{
	for (unsigned n = 1; n < MANY; n++) {
		cleanup_free char *dir = begin_round(n);
		bool ended;

		fake_world_use(dir, 0);
		ASSERT_INT(start_again(&three_nodes), 0);
		ended = run_until(dir, n, delete_it);
		ASSERT_INT(delete_it(), 0);
		assert_no_trace();
		if (ended) {
			ASSERT(n > 3);
			return;
		}
	}
	ASSERT(!"there is no end of steps");
}

TEST(deleting_what_is_not_there_is_no_error)
{
	cleanup_free char *dir = begin_round(0);

	fake_world_use(dir, 0);
	ASSERT_INT(delete_it(), 0);
	assert_no_trace();
}

TEST(a_damaged_profile_is_kept_by_start_and_removed_by_delete)
{
	cleanup_free char *dir = begin_round(0);
	cleanup_free char *home = NULL;
	cleanup_free char *path = NULL;
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;

	fake_world_use(dir, 0);
	ASSERT_OK(profile_dir("test", &home, &err));
	ASSERT_OK(file_make_dirs(home, 0755, &err));
	path = xasprintf("%s/profile.json", home);
	ASSERT_OK(file_put(path, "{ broken", 8, 0644, &err));
	ASSERT(start_again(&three_nodes) < 0);
	ASSERT_OK(file_read(path, 100, &text, &err));
	ASSERT_STR(text.text, "{ broken");
}

TEST(a_port_may_only_lead_to_a_node_that_the_cluster_has)
{
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	cleanup_free char *world_dir = begin_round(0);
	struct cluster_options options = three_nodes;
	struct cluster_outcome outcome;

	fake_world_use(world_dir, 0);
	strlist_add(&options.ports, "8080:30080@node-4");
	ASSERT_INT(cluster_start("test", &options, NULL, &outcome, &why), -EINVAL);
	ASSERT(why.reason == &reason_usage);
	ASSERT(strstr(why.text, "'8080:30080@node-4' is forwarded to node 'node-4'"));
	ASSERT(strstr(why.hint, "node-1, node-2, node-3"));
	assert_no_trace();
	strlist_release(&options.ports);
	/* One that is made by the same start is as good. */
	strlist_add(&options.ports, "8080:30080@node-3");
	ASSERT_OK(cluster_start("test", &options, NULL, &outcome, &err));
	strlist_release(&options.ports);
}

TEST(a_start_without_room_makes_nothing)
{
	cleanup_with(error_clear) struct error err = ERROR_INIT;
	cleanup_free char *world_dir = begin_round(0);
	struct cluster_options forced = three_nodes;
	struct cluster_outcome outcome;

	forced.force = true;
	fake_world_use(world_dir, 0);
	fake_world_shrink(UINT64_C(1000) << 20);
	ASSERT_INT(cluster_start("test", &three_nodes, NULL, &outcome, &err), -ENOMEM);
	ASSERT(err.reason == &reason_resources);
	assert_no_trace();
	ASSERT_INT(start_again(&forced), 0);
	/* What runs has its memory already. */
	fake_world_shrink(0);
	ASSERT_INT(start_again(&three_nodes), 0);
}
