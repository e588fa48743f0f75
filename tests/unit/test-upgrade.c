/* Upgrades in a fake world: whole, and ended after every single step. */

#include "cluster/upgrade.h"

#include "base/file.h"
#include "cluster/cluster.h"
#include "fake-world.h"
#include "kubeadm/upgrade-node.h"
#include "record/options.h"
#include "rounds.h"
#include "test.h"

#define OLD "v1.35.4"
#define NEW "v1.36.3"

static int start_with(struct cluster_options options, struct error *err)
{
	struct cluster_outcome outcome;

	options.wait = WAIT_API | WAIT_NODES;
	options.wait_seconds = 20;
	return cluster_start("test", &options, NULL, &outcome, err);
}

static int start_old(unsigned control_planes, unsigned nodes)
{
	return start_with((struct cluster_options){ .control_planes = control_planes,
						    .nodes = nodes,
						    .kubernetes_version = OLD },
			  NULL);
}

static int start_all(void)
{
	return start_with((struct cluster_options){ 0 }, NULL);
}

static int one_and_one(void)
{
	return start_old(1, 2);
}

static int two_and_one(void)
{
	return start_old(2, 3);
}

static int upgrade_to(const char *version, struct error *why)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	struct upgrade_options options = {
		.version = version, .drain = true, .drain_seconds = 5, .wait_seconds = 5
	};

	ASSERT_OK(profile_load("test", &profile, &err));
	return cluster_upgrade(&profile, &options, NULL, why);
}

static int upgrade(void)
{
	return upgrade_to(NULL, NULL);
}

static int stop_all(void)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	int r;

	ASSERT_OK(profile_load("test", &profile, &err));
	r = cluster_stop(&profile, false, NULL, NULL);
	return MIN(r, 0);
}

/* What the profile says of versions: the cluster's, that of the upgrade, each node's. */
static void assert_versions(const char *expected)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_with(strlist_release) struct strlist all = STRLIST_INIT;
	cleanup_free char *text = NULL;
	const struct node *node;

	ASSERT_OK(profile_load("test", &profile, &err));
	strlist_add(&all, profile.kubernetes_version);
	if (profile.upgrading_from)
		strlist_addf(&all, "(%s)", profile.upgrading_from);
	profile_for_each_node(node, &profile)
		strlist_add(&all, node->kubernetes_version);
	text = strlist_join(&all, " ");
	ASSERT_STR(text, expected);
	ASSERT_INT(profile.drained.count, 0);
}

static void assert_history(const char *expected)
{
	cleanup_free char *history = fake_world_history();

	ASSERT_STR(history, expected);
}

/* All of a finished upgrade but the order in which it came. */
static void assert_new(void)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_free char *stored = fake_world_stored_config();
	const struct node *node;

	ASSERT_OK(profile_load("test", &profile, &err));
	profile_for_each_node(node, &profile)
		ASSERT(!node->control_plane || upgrade_has_manifests(&profile, node, NEW));
	ASSERT_STR(stored, "kubernetesVersion: " NEW "\n");
}

#define WORLD_OF_TWO                                                                   \
	"bridge:mktest etcd:node-1 front-door kubeconfig member:node-1 member:node-2 " \
	"running:node-1 running:node-2"
#define WORLD_OF_THREE                                                               \
	"bridge:mktest etcd:node-1 etcd:node-2 front-door kubeconfig member:node-1 " \
	"member:node-2 member:node-3 running:node-1 running:node-2 running:node-3"

TEST(a_control_plane_comes_first_then_addons_then_the_worker)
{
	free(begin_round(1));
	ASSERT_INT(one_and_one(), 0);
	ASSERT_INT(upgrade(), 0);
	assert_versions(NEW " " NEW " " NEW);
	assert_history("start node-1 " OLD "; start node-2 " OLD "; prepare node-1 " NEW
		       "; start node-1 " NEW "; addons node-1 " NEW "; prepare node-2 " NEW
		       "; start node-2 " NEW);
	assert_world(WORLD_OF_TWO);
	assert_new();
	/* Once more there is nothing to do. */
	ASSERT_INT(upgrade(), 0);
	ASSERT_INT(upgrade_to(NEW, NULL), 0);
	assert_world(WORLD_OF_TWO);
	ASSERT_INT(start_all(), 0);
	assert_versions(NEW " " NEW " " NEW);
}

TEST(control_planes_go_one_by_one_and_a_stopped_cluster_is_started_for_it)
{
	free(begin_round(1));
	ASSERT_INT(two_and_one(), 0);
	ASSERT_INT(stop_all(), 0);
	ASSERT_INT(upgrade_to(NEW, NULL), 0);
	assert_history("start node-1 " OLD "; start node-2 " OLD "; start node-3 " OLD
		       "; start node-1 " OLD "; start node-2 " OLD "; start node-3 " OLD
		       "; prepare node-1 " NEW "; start node-1 " NEW "; prepare node-2 " NEW
		       "; start node-2 " NEW "; addons node-1 " NEW "; prepare node-3 " NEW
		       "; start node-3 " NEW);
	assert_versions(NEW " " NEW " " NEW " " NEW);
	assert_world(WORLD_OF_THREE);
	assert_new();
}

static void check_upgrade(void)
{
	ASSERT_INT(upgrade(), 0);
	assert_versions(NEW " " NEW " " NEW);
	assert_world(WORLD_OF_TWO);
	assert_new();
}

TEST(an_upgrade_cut_short_is_finished_by_the_next)
{
	cut_short(one_and_one, upgrade, check_upgrade, 12);
}

static void check_upgrade_of_three(void)
{
	ASSERT_INT(upgrade(), 0);
	assert_versions(NEW " " NEW " " NEW " " NEW);
	assert_world(WORLD_OF_THREE);
	assert_new();
}

TEST(an_upgrade_of_two_control_planes_cut_short_is_finished_by_the_next)
{
	cut_short(two_and_one, upgrade, check_upgrade_of_three, 18);
}

/* Whatever it was cut short at, `start` brings all of it up, also after a stop. */
static void check_start(void)
{
	ASSERT_INT(start_all(), 0);
	assert_world(WORLD_OF_THREE);
	ASSERT_INT(stop_all(), 0);
	ASSERT_INT(start_all(), 0);
	assert_world(WORLD_OF_THREE);
	check_upgrade_of_three();
}

TEST(a_half_upgraded_cluster_can_be_stopped_and_started)
{
	cut_short(two_and_one, upgrade, check_start, 18);
}

/* Cut UPGRADE short after the profile has become one of the new version. */
static void begin_upgrade(const char *dir)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;

	for (unsigned n = 1; !profile.upgrading_from; n++) {
		profile_release(&profile);
		ASSERT(!run_until(dir, n, upgrade));
		ASSERT_OK(profile_load("test", &profile, &err));
	}
	fake_world_use(dir, 0);
}

TEST(a_half_upgraded_cluster_takes_no_nodes_and_no_other_version)
{
	cleanup_free char *dir = begin_round(1);
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	cleanup_with(error_clear) struct error other = ERROR_INIT;
	struct node_options worker = { .name = "more" };

	ASSERT_INT(one_and_one(), 0);
	begin_upgrade(dir);
	assert_versions(NEW " (" OLD ") " OLD " " OLD);
	ASSERT_INT(start_with((struct cluster_options){ .nodes = 3 }, &why), -EBUSY);
	ASSERT_STR(why.text, "cluster 'test' is being upgraded from Kubernetes " OLD " to " NEW
			     "; nodes cannot be added");
	ASSERT_INT(start_with((struct cluster_options){ .add = &worker, .add_count = 1 }, NULL),
		   -EBUSY);
	ASSERT_INT(upgrade_to(OLD, &other), -EBUSY);
	ASSERT_STR(other.text, "the unfinished upgrade of cluster 'test' from " OLD " to " NEW
			       " can only be finished");
	assert_versions(NEW " (" OLD ") " OLD " " OLD);
	ASSERT_INT(upgrade_to(NEW, NULL), 0);
	ASSERT_INT(start_with((struct cluster_options){ .nodes = 3 }, NULL), 0);
	assert_versions(NEW " " NEW " " NEW " " NEW);
}

static void assert_words(const char *busy_with, const char *expected)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_free char *words = NULL;

	ASSERT_OK(profile_load("test", &profile, &err));
	words = upgrade_words(&profile, busy_with);
	if (expected)
		ASSERT_STR(words, expected);
	else
		ASSERT(!words);
}

TEST(an_upgrade_that_has_not_ended_is_told_of_with_the_command_that_continues_it)
{
	cleanup_free char *dir = begin_round(1);

	ASSERT_INT(one_and_one(), 0);
	assert_words(NULL, NULL);
	begin_upgrade(dir);
	assert_words(NULL, "from " OLD " to " NEW ", unfinished: 'manykube upgrade' continues it");
	assert_words("manykube start",
		     "from " OLD " to " NEW ", unfinished: 'manykube upgrade' continues it");
	assert_words("manykube upgrade", "from " OLD " to " NEW ", under way");
	ASSERT_INT(upgrade_to(NEW, NULL), 0);
	assert_words(NULL, NULL);
}

TEST(a_control_plane_that_left_meanwhile_is_upgraded_when_it_is_back)
{
	cleanup_free char *dir = begin_round(1);
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;

	ASSERT_INT(two_and_one(), 0);
	/* Up to the start of the first one as a new one. */
	for (unsigned n = 10;
	     !profile.nodes || strcmp(profile.nodes[0].kubernetes_version, NEW) != 0; n++) {
		profile_release(&profile);
		ASSERT(!run_until(dir, n, upgrade));
		ASSERT_OK(profile_load("test", &profile, &err));
	}
	fake_world_use(dir, 0);
	ASSERT_INT(start_all(), 0);
	/* Joining again, it gets the manifests of the old version. */
	strlist_add(&names, "node-1");
	profile_release(&profile);
	ASSERT_OK(profile_load("test", &profile, &err));
	ASSERT_OK(cluster_leave_to_stop(&profile, &names, false, NULL, &err));
	ASSERT(cluster_stop_nodes(&profile, &names, NULL, NULL) >= 0);
	ASSERT_INT(start_all(), 0);
	check_upgrade_of_three();
}

TEST(getting_the_new_version_and_its_images_does_not_count_as_waiting)
{
	free(begin_round(1));
	ASSERT_INT(one_and_one(), 0);
	fake_world_slow_seconds = 3600;
	fake_world_api_seconds = 3;
	ASSERT_INT(upgrade(), 0);
	assert_new();
	assert_world(WORLD_OF_TWO);
}

TEST(without_the_new_version_nothing_is_changed)
{
	free(begin_round(1));
	ASSERT_INT(one_and_one(), 0);
	fake_world_lack(NEW);
	ASSERT_INT(upgrade(), -ENOENT);
	fake_world_lack(NULL);
	fake_world_shrink(1 << 20);
	ASSERT_INT(upgrade(), -ENOSPC);
	assert_versions(OLD " " OLD " " OLD);
	assert_history("start node-1 " OLD "; start node-2 " OLD);
}

TEST(nothing_is_fetched_to_upgrade_a_cluster_that_is_offline)
{
	free(begin_round(1));
	ASSERT_INT(start_with((struct cluster_options){ .nodes = 2,
							.kubernetes_version = OLD,
							.offline = true },
			      NULL),
		   0);
	ASSERT_INT(upgrade(), 0);
	ASSERT_INT(fake_world_fetches, 0);
	assert_versions("v1.36.3 v1.36.3 v1.36.3");
}

TEST(versions_that_can_not_be_gone_to_are_refused)
{
	free(begin_round(1));
	ASSERT_INT(start_with((struct cluster_options){ .kubernetes_version = NEW }, NULL), 0);
	ASSERT_INT(upgrade_to(OLD, NULL), -EINVAL);
	assert_history("start node-1 " NEW);
	assert_versions(NEW " " NEW);
}

TEST(a_worker_that_was_older_on_purpose_is_brought_up_to_its_cluster)
{
	struct node_options older = { .name = "older", .kubernetes_version = OLD };

	free(begin_round(1));
	ASSERT_INT(start_with((struct cluster_options){ .kubernetes_version = NEW }, NULL), 0);
	ASSERT_INT(start_with((struct cluster_options){ .add = &older, .add_count = 1 }, NULL), 0);
	assert_versions(NEW " " NEW " " OLD);
	ASSERT_INT(upgrade(), 0);
	assert_versions(NEW " " NEW " " NEW);
	assert_history("start node-1 " NEW "; start older " OLD "; prepare older " NEW
		       "; start older " NEW);
}

TEST(a_node_that_people_have_set_aside_stays_so)
{
	cleanup_free char *dir = begin_round(1);
	cleanup_free char *aside = xasprintf("%s/drained:node-2", dir);

	ASSERT_INT(one_and_one(), 0);
	ASSERT_OK(file_put(aside, "", 0, 0600, &err));
	ASSERT_INT(upgrade(), 0);
	assert_world("bridge:mktest drained:node-2 etcd:node-1 front-door kubeconfig member:node-1 "
		     "member:node-2 running:node-1 running:node-2");
	assert_versions(NEW " " NEW " " NEW);
}

TEST(kubeadm_is_told_that_there_are_addons)
{
	cleanup_free char *stored = NULL;

	free(begin_round(1));
	ASSERT_INT(one_and_one(), 0);
	stored = fake_world_stored_config();
	ASSERT(strstr(stored, "kubernetesVersion: " OLD));
	ASSERT(!strstr(stored, "disabled"));
}
