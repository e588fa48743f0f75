/* Nodes whose directories were removed, in a fake world: whole,
 * and ended after every single step. */

#include "base/file.h"
#include "cluster/cluster.h"
#include "fake-files.h"
#include "fake-world.h"
#include "rounds.h"
#include "test.h"

#define FIRST  "node-1 joined 192.168.39.2 10.244.0.0/24"
#define SECOND "node-2 joined 192.168.39.3 10.244.1.0/24"
#define THIRD  "node-3 joined 192.168.39.4 10.244.2.0/24"

static int start_with(struct cluster_options options, struct error *ret_why)
{
	struct cluster_outcome outcome;

	options.kubernetes_version = "v1.36.3";
	options.wait = WAIT_API | WAIT_NODES;
	options.wait_seconds = 5;
	return cluster_start("test", &options, NULL, &outcome, ret_why);
}

static int start_all(void)
{
	return start_with((struct cluster_options){ 0 }, NULL);
}

static int stop_all(void)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	int r;

	ASSERT_OK(profile_load("test", &profile, &err));
	r = cluster_stop(&profile, false, NULL, NULL);
	return MIN(r, 0);
}

static void lose(const char *name)
{
	cleanup_free char *directory = fake_files_path(name, "");

	ASSERT_OK(file_remove_tree(directory, &err));
}

static int make_and_stop(unsigned control_planes, unsigned nodes)
{
	struct cluster_options options = { .control_planes = control_planes, .nodes = nodes };
	int r = start_with(options, NULL);

	return r < 0 ? r : stop_all();
}

static int worker_lost(void)
{
	int r = make_and_stop(1, 2);

	lose("node-2");
	return r;
}

static void check_worker(void)
{
	ASSERT_INT(start_all(), 0);
	assert_world("bridge:mktest etcd:node-1 front-door kubeconfig member:node-1 member:node-2 "
		     "running:node-1 running:node-2");
	assert_profile(FIRST "; " SECOND);
}

TEST(a_worker_whose_directory_is_gone_joins_again)
{
	cut_short(worker_lost, start_all, check_worker, 6);
}

TEST(so_does_one_whose_directory_was_made_anew_by_an_earlier_version)
{
	cleanup_free char *etc = NULL;

	free(begin_round(0));
	ASSERT_INT(worker_lost(), 0);
	etc = fake_files_path("node-2", "/etc");
	ASSERT_OK(file_make_dirs(etc, 0755, &err));
	check_worker();
}

static int primary_of_three_lost(void)
{
	int r = make_and_stop(3, 3);

	lose("node-1");
	return r;
}

static void check_three(void)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;

	ASSERT_INT(start_all(), 0);
	assert_world("bridge:mktest etcd:node-1 etcd:node-2 etcd:node-3 front-door kubeconfig "
		     "member:node-1 member:node-2 member:node-3 running:node-1 running:node-2 "
		     "running:node-3");
	assert_profile(FIRST "; " SECOND "; " THIRD);
	ASSERT_OK(profile_load("test", &profile, &err));
	ASSERT_STR(profile_primary(&profile)->name, "node-2");
	/* It had to be made with the keys of the others, not with a kubeadm init of its own. */
	ASSERT_INT(fake_world_inits(), 1);
}

TEST(a_control_plane_whose_directory_is_gone_is_taken_out_of_etcd_and_joins_again)
{
	cut_short(primary_of_three_lost, start_all, check_three, 10);
}

/* A start is refused with CODE, and these words are in the error; nothing is made or changed. */
static void assert_refused(int code, const char *words, const char *lost)
{
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	cleanup_free char *directory = fake_files_path(lost, "");

	ASSERT_INT(start_with((struct cluster_options){ 0 }, &why), code);
	ASSERT(strstr(why.text, words));
	ASSERT(!strstr(why.hint, "delete"));
	ASSERT(!file_exists(directory));
	ASSERT_INT(fake_world_inits(), 1);
}

TEST(without_the_only_control_plane_the_data_is_said_to_be_gone)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_with(error_clear) struct error why = ERROR_INIT;

	free(begin_round(0));
	ASSERT_INT(make_and_stop(1, 2), 0);
	lose("node-1");
	assert_refused(
		-ENOENT,
		"is missing, and with it the data of cluster 'test': node 'node-1' was its only "
		"control plane",
		"node-1");
	assert_profile(FIRST "; " SECOND);
	assert_world("etcd:node-1 member:node-1 member:node-2");
	/* Of a deletion that was interrupted the rest is to be deleted. */
	ASSERT_OK(profile_load("test", &profile, &err));
	profile.deleting = true;
	ASSERT_OK(profile_save(&profile, &err));
	ASSERT_INT(start_with((struct cluster_options){ 0 }, &why), -ENOENT);
	ASSERT(strstr(why.text, "the deletion of cluster 'test' was interrupted"));
	ASSERT(strstr(why.hint, "'manykube delete' finishes"));
	/* Whatever else the start asks for. */
	error_clear(&why);
	ASSERT_INT(start_with((struct cluster_options){ .nodes = 1 }, &why), -ENOENT);
	ASSERT(strstr(why.text, "the deletion of cluster 'test' was interrupted"));
}

TEST(without_most_control_planes_the_one_that_is_left_can_be_gone_on_with)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	struct node *survivor;

	free(begin_round(0));
	ASSERT_INT(make_and_stop(3, 3), 0);
	lose("node-1");
	lose("node-2");
	assert_refused(-EAGAIN, "1 of 3 members of etcd are left, and 2 are needed", "node-1");
	assert_profile(FIRST "; " SECOND "; " THIRD);
	ASSERT_OK(profile_load("test", &profile, &err));
	/* It does not run, for a start is refused. */
	ASSERT_OK(cluster_choose_survivor(&profile, NULL, &survivor, &err));
	ASSERT_STR(survivor->name, "node-3");
	ASSERT_OK(cluster_recover(&profile, survivor, 5, NULL, &err));
	ASSERT_INT(start_all(), 0);
	assert_profile(FIRST "; " SECOND "; " THIRD);
	lose("node-1");
	lose("node-2");
	lose("node-3");
	assert_refused(-ENOENT, "the directories of all control planes (node-1, node-2, node-3)",
		       "node-1");
}
