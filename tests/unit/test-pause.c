/* Pausing a cluster in a fake world. */

#include <sys/wait.h>

#include "base/alloc.h"
#include "cluster/cluster.h"
#include "fake-world.h"
#include "kubeadm/members.h"
#include "node/cluster-node.h"
#include "record/options.h"
#include "test.h"

#define MANY 20

static const struct cluster_options three_nodes = {
	.nodes = 3,
	.kubernetes_version = "v1.36.3",
	.wait = WAIT_API | WAIT_NODES,
	.wait_seconds = 20,
};

static struct cluster_outcome start_it(void)
{
	struct cluster_outcome outcome;

	ASSERT_OK(cluster_start("test", &three_nodes, NULL, &outcome, &err));
	return outcome;
}

/* A cluster of three nodes in the world DIR, with a home of its own for round N. */
static void make_cluster_in(const char *dir, unsigned n)
{
	cleanup_free char *home = xasprintf("%s/home-%u", test_dir(), n);

	ASSERT(setenv("MANYKUBE_HOME", home, 1) == 0);
	fake_world_use(dir, 0);
	(void)start_it();
}

static void make_cluster(void)
{
	cleanup_free char *dir = xasprintf("%s/world", test_dir());

	make_cluster_in(dir, 0);
}

/* What an observer was told. */
static struct strlist told;

static void on_begin(arg_unused struct observer *observer, const char *step, const char *node)
{
	strlist_addf(&told, "%s %s", step, node);
}

static void on_end(arg_unused struct observer *observer, arg_unused const char *step,
		   arg_unused const char *node, bool ok)
{
	ASSERT(ok);
}

static struct observer observer = { .begin = on_begin, .end = on_end };

/* Pause or unpause NODE (NULL: all) of the cluster as it is on disk. */
static int change(const char *name, bool paused, struct error *ret_why)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	const struct node *node;

	ASSERT_OK(profile_load("test", &profile, &err));
	node = name ? profile_find_node(&profile, name) : NULL;
	strlist_release(&told);
	return cluster_pause(&profile, node, paused, &observer, ret_why);
}

static void assert_told(const char *expected)
{
	cleanup_free char *text = strlist_join(&told, ", ");

	ASSERT_STR(text, expected);
}

static void assert_frozen(const char *expected)
{
	cleanup_with(strlist_release) struct strlist all = STRLIST_INIT;
	cleanup_with(strlist_release) struct strlist frozen = STRLIST_INIT;
	cleanup_free char *text = NULL;
	const char *what;

	fake_world_list(&all);
	strlist_for_each(what, &all)
		if (strncmp(what, "frozen:", 7) == 0)
			strlist_add(&frozen, what + 7);
	text = strlist_join(&frozen, " ");
	ASSERT_STR(text, expected);
}

TEST(control_planes_are_paused_last_and_go_on_first)
{
	make_cluster();
	ASSERT_INT(change(NULL, true, NULL), 3);
	assert_told("pausing node node-2, pausing node node-3, pausing node node-1");
	assert_frozen("node-1 node-2 node-3");
	ASSERT_INT(change(NULL, false, NULL), 3);
	assert_told("unpausing node node-1, unpausing node node-2, unpausing node node-3");
	assert_frozen("");
}

TEST(what_is_paused_stays_so_without_a_word)
{
	make_cluster();
	ASSERT_INT(change("node-2", true, NULL), 1);
	ASSERT_INT(change("node-2", true, NULL), 0);
	assert_told("");
	assert_frozen("node-2");
	ASSERT_INT(change(NULL, true, NULL), 2);
	assert_told("pausing node node-3, pausing node node-1");
	ASSERT_INT(change("node-2", false, NULL), 1);
	assert_frozen("node-1 node-3");
	ASSERT_INT(change("node-2", false, NULL), 0);
	strlist_release(&told);
}

TEST(a_node_that_does_not_run_is_passed_over_unless_it_is_named)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	const struct node *node;

	make_cluster();
	ASSERT_OK(profile_load("test", &profile, &err));
	profile_for_each_node(node, &profile) {
		cleanup_with(cluster_node_release) struct cluster_node at = CLUSTER_NODE_INIT;

		ASSERT_OK(cluster_node_open(&profile, node, &at, &err));
		ASSERT_OK(at.driver->stop(&at.spec, 0, &err));
		if (strcmp(node->name, "node-1") == 0) {
			ASSERT_INT(change("node-1", true, &why), -ESRCH);
			ASSERT(why.reason == &reason_node_not_running);
			ASSERT_INT(change(NULL, true, NULL), 2);
			assert_frozen("node-2 node-3");
		}
	}
	ASSERT_INT(change(NULL, true, &why), -ESRCH);
	ASSERT_STR(why.text, "cluster 'test' does not run");
	ASSERT(why.reason == &reason_node_not_running);
	strlist_release(&told);
}

TEST(a_start_lets_go_on_what_is_paused_and_counts_it)
{
	make_cluster();
	ASSERT_INT(change("node-1", true, NULL), 1);
	ASSERT_INT(change("node-3", true, NULL), 1);
	ASSERT_INT(start_it().started, 2);
	assert_frozen("");
	ASSERT_INT(start_it().started, 0);
	ASSERT_INT(fake_world_inits(), 1);
	strlist_release(&told);
}

TEST(a_paused_cluster_is_deleted_without_a_trace)
{
	cleanup_with(strlist_release) struct strlist all = STRLIST_INIT;

	make_cluster();
	ASSERT_INT(change(NULL, true, NULL), 3);
	ASSERT_OK(cluster_delete("test", NULL, &err));
	fake_world_list(&all);
	ASSERT_INT(all.count, 0);
	strlist_release(&told);
}

TEST(the_api_needs_a_control_plane_that_is_not_paused)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_with(error_clear) struct error why = ERROR_INIT;

	make_cluster();
	ASSERT_OK(profile_load("test", &profile, &err));
	ASSERT_INT(change("node-2", true, NULL), 1);
	ASSERT_OK(cluster_need_awake(&profile, &err));
	ASSERT_INT(change("node-1", true, NULL), 1);
	ASSERT_INT(cluster_need_awake(&profile, &why), -EBUSY);
	ASSERT(why.reason == &reason_api_not_running);
	/* Of three, one may be missing, but not two. */
	profile.nodes[1].control_plane = profile.nodes[2].control_plane = true;
	ASSERT_INT(cluster_need_awake(&profile, NULL), -EBUSY);
	ASSERT_INT(change("node-1", false, NULL), 1);
	ASSERT_OK(cluster_need_awake(&profile, &err));
	strlist_release(&told);
}

/* Pause all, in a process that ends after step CRASH_AT; true if it got to its end before. */
static bool pause_until(const char *dir, unsigned crash_at)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		fake_world_use(dir, crash_at);
		_exit(change(NULL, true, NULL) >= 0 ? 0 : 1);
	}
	ASSERT(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
	if (WEXITSTATUS(status) == FAKE_CRASHED)
		return false;
	ASSERT_INT(WEXITSTATUS(status), 0);
	return true;
}

TEST(a_pause_cut_short_after_any_step_is_finished_or_taken_back)
{
	for (unsigned n = 1; n < MANY; n++) {
		cleanup_free char *dir = xasprintf("%s/world-%u", test_dir(), n);
		bool ended;

		make_cluster_in(dir, n);
		ended = pause_until(dir, n);
		fake_world_use(dir, 0);
		ASSERT_INT(change(NULL, true, NULL), ended ? 0 : 3 - (int)n);
		assert_frozen("node-1 node-2 node-3");
		ASSERT_OK(cluster_delete("test", NULL, &err));
		make_cluster_in(dir, n);
		(void)pause_until(dir, n);
		ASSERT(change(NULL, false, NULL) > 0);
		assert_frozen("");
		strlist_release(&told);
		if (ended) {
			ASSERT_INT(n, 4);
			return;
		}
	}
	ASSERT(!"there is no end of steps");
}
