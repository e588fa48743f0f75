/* Changing a cluster to match a file, in a fake world: whole, and ended after every single
 * step.
 */

#include "cluster/apply.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "cluster/change-node.h"
#include "cluster/cluster.h"
#include "fake-world.h"
#include "image/oci.h"
#include "kubeadm/drain.h"
#include "plan/apply-look.h"
#include "plan/node-need.h"
#include "record/options.h"
#include "rounds.h"
#include "test.h"

#define HEAD "apiVersion: manykube/v1\nkind: Cluster\nname: test\nkubernetesVersion: v1.36.3\n"

static const char before_text[] = HEAD
	"nodes:\n"
	"- {role: control-plane, name: a}\n"
	"- {role: control-plane, name: b}\n"
	"- {role: worker, name: w1, memory: 1g, labels: {tier: web}}\n"
	"- {role: worker, name: w2, cpus: 2}\n"
	"- {role: worker, name: w3}\n";

/* Of everything something: set, changed, restarted, made anew, added, deleted. */
static const char after_text[] = HEAD
	"network: {ports: [\"8080:30080\"]}\n"
	"nodes:\n"
	"- {role: control-plane, name: a, cpus: 1, env: {A: b}, noSchedule: true}\n"
	"- {role: control-plane, name: b, maxPods: 20}\n"
	"- {role: worker, name: w1, memory: 2g, labels: {tier: db}}\n"
	"- {role: worker, name: w2, taints: [\"x=y:NoExecute\"]}\n"
	"- {role: worker, name: w4}\n";

static const struct apply_options usual = { .prune = true, .wait_seconds = 20 };

static void read_text(const char *text, struct cluster_file *ret)
{
	static const struct cluster_file_before name = { .usual_name = "test" };

	ASSERT_OK(cluster_file_parse("f.yaml", text, strlen(text), &name, ret, &err));
}

static int make_cluster_of(const char *text)
{
	cleanup_with(cluster_file_release) struct cluster_file file = CLUSTER_FILE_INIT;
	cleanup_with(strlist_release) struct strlist given = STRLIST_INIT;
	struct cluster_options options = { .wait = WAIT_API | WAIT_NODES, .wait_seconds = 20 };
	struct cluster_outcome outcome;

	read_text(text, &file);
	cluster_file_take(&file, &options, &given);
	return cluster_start("test", &options, NULL, &outcome, NULL);
}

static int make_cluster(void)
{
	return make_cluster_of(before_text);
}

/* What is to be done for the file TEXT, a line for each step. */
static char *plan_of(const char *text)
{
	cleanup_with(cluster_file_release) struct cluster_file file = CLUSTER_FILE_INIT;
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_with(apply_plan_release) struct apply_plan plan = APPLY_PLAN_INIT;
	cleanup_with(strlist_release) struct strlist lines = STRLIST_INIT;

	read_text(text, &file);
	ASSERT_OK(profile_load("test", &profile, &err));
	apply_look(&profile, &file, &plan);
	for (size_t i = 0; i < plan.count; i++) {
		cleanup_free char *words = apply_step_words(&plan.steps[i]);

		strlist_add(&lines, words);
	}
	return strlist_join(&lines, "\n");
}

static int apply_text(const char *text, const struct apply_options *how, struct error *err)
{
	cleanup_with(cluster_file_release) struct cluster_file file = CLUSTER_FILE_INIT;
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_with(apply_plan_release) struct apply_plan plan = APPLY_PLAN_INIT;
	int r;

	read_text(text, &file);
	r = profile_load("test", &profile, err);
	if (r < 0)
		return r;
	apply_look(&profile, &file, &plan);
	r = apply_check(&profile, &file, &plan, how->prune, err);
	return r < 0 ? r : apply_carry_out("test", &file, &plan, how, NULL, err);
}

static int apply_after(void)
{
	return apply_text(after_text, &usual, NULL);
}

static const struct node *node_of(const struct profile *profile, const char *name)
{
	const struct node *node = profile_find_node(profile, name);

	ASSERT(node && node->phase == NODE_JOINED && !node->outdated);
	return node;
}

static void assert_applied(void)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_free char *left = NULL;

	ASSERT_OK(apply_text(after_text, &usual, &err));
	left = plan_of(after_text);
	ASSERT_STR(left, "");
	assert_world("bridge:mktest etcd:a etcd:b front-door kubeconfig limited:w1 limited:w2 "
		     "member:a member:b member:w1 member:w2 member:w4 "
		     "running:a running:b running:w1 running:w2 running:w4");
	ASSERT_OK(profile_load("test", &profile, &err));
	ASSERT_INT(profile.node_count, 5);
	ASSERT_INT(profile.orphans.count + profile.drained.count, 0);
	ASSERT(strlist_has(&profile.ports, "8080:30080"));
	ASSERT_INT(node_of(&profile, "a")->cpus, 1);
	ASSERT(!node_of(&profile, "a")->worker && node_of(&profile, "b")->worker);
	ASSERT_INT(node_of(&profile, "b")->max_pods, 20);
	ASSERT_INT(node_of(&profile, "w1")->memory_bytes, UINT64_C(2) << 30);
	ASSERT_STR(node_of(&profile, "w1")->labels.items[0], "tier=db");
	ASSERT_INT(node_of(&profile, "w2")->cpus, 0);
	ASSERT_STR(node_of(&profile, "w2")->taints.items[0], "x=y:NoExecute");
	/* Those that stayed kept what they were given once. */
	ASSERT_STR(node_of(&profile, "w2")->address, "192.168.39.5");
}

TEST(a_plan_is_carried_out_also_cut_short)
{
	cut_short(make_cluster, apply_after, assert_applied, 30);
}

TEST(making_nodes_anew_does_not_count_as_waiting_for_them)
{
	free(begin_round(0));
	ASSERT_INT(make_cluster(), 0);
	fake_world_slow_seconds = 3600;
	fake_world_api_seconds = 3;
	assert_applied();
}

static const char offline_text[] = HEAD "offline: true\n"
					"nodes:\n"
					"- {role: control-plane, name: a}\n"
					"- {role: worker, name: w1}\n";
static const char offline_after_text[] = HEAD
	"offline: true\n"
	"nodes:\n"
	"- {role: control-plane, name: a}\n"
	"- {role: worker, name: w1, kubernetesVersion: v1.35}\n";

TEST(nothing_is_fetched_for_a_cluster_that_is_offline)
{
	free(begin_round(1));
	ASSERT_INT(make_cluster_of(offline_text), 0);
	ASSERT_INT(apply_text(offline_after_text, &usual, NULL), 0);
	ASSERT_INT(fake_world_fetches, 0);
	ASSERT(fake_world_payloads.count > 2);
}

TEST(all_is_downloaded_from_the_mirror_that_is_given)
{
	struct apply_options mirrored = usual;

	mirrored.binary_mirror = "http://mirror";
	free(begin_round(1));
	ASSERT_INT(make_cluster(), 0);
	ASSERT_INT(apply_text(after_text, &mirrored, NULL), 0);
	ASSERT_STR(fake_world_mirror, "http://mirror");
}

TEST(nothing_is_to_be_done_for_what_there_is)
{
	cleanup_free char *plan = NULL;
	cleanup_free char *same = NULL;

	free(begin_round(0));
	ASSERT_INT(make_cluster(), 0);
	plan = plan_of(before_text);
	ASSERT_STR(plan, "");
	same = plan_of(after_text);
	ASSERT_STR(same,
		   "the cluster changes: network.ports +8080:30080\n"
		   "node 'a' is restarted: cpus max -> 1, taints "
		   "+node-role.kubernetes.io/control-plane:NoSchedule, env +A=b\n"
		   "node 'b' is deleted and created again without its data: maxPods 110 -> 20\n"
		   "node 'w1' changes: memory 1g -> 2g, labels +tier=db -tier=web\n"
		   "node 'w2' changes: cpus 2 -> max, taints +x=y:NoExecute\n"
		   "node 'w4' is added: role worker\n"
		   "node 'w3' is deleted");
}

static const char other_text[] = HEAD "nodes:\n"
				      "- {role: control-plane, name: a, cpus: 1}\n"
				      "- {role: worker, name: w1, labels: {tier: db}}\n"
				      "- {role: worker, name: w2}\n";

static int make_stopped(void)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	int r = make_cluster_of(HEAD "nodes:\n"
				     "- {role: control-plane, name: a}\n"
				     "- {role: worker, name: w1}\n");

	ASSERT_OK(profile_load("test", &profile, &err));
	return r < 0 ? r : MIN(cluster_stop(&profile, false, NULL, NULL), 0);
}

static int apply_other(void)
{
	return apply_text(other_text, &usual, NULL);
}

static void assert_other(void)
{
	cleanup_free char *left = NULL;

	ASSERT_OK(apply_text(other_text, &usual, &err));
	left = plan_of(other_text);
	ASSERT_STR(left, "");
	assert_world("bridge:mktest etcd:a front-door kubeconfig "
		     "member:a member:w1 member:w2 running:a running:w1 running:w2");
}

TEST(a_stopped_cluster_comes_up_as_the_file_says_also_cut_short)
{
	cut_short(make_stopped, apply_other, assert_other, 10);
}

TEST(nodes_that_do_not_run_are_started_and_outdated_ones_restarted)
{
	static const struct node_settings changes = { .cpus = 1 };
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	cleanup_free char *plan = NULL;
	bool needs_restart;

	free(begin_round(0));
	ASSERT_INT(make_cluster(), 0);
	ASSERT_OK(profile_load("test", &profile, &err));
	strlist_add(&names, "w1");
	ASSERT_INT(cluster_stop_nodes(&profile, &names, NULL, NULL), 1);
	/* Its kubelet can't be restarted meanwhile. */
	ASSERT_INT(cluster_pause(&profile, profile_find_node(&profile, "w2"), true, NULL, NULL), 1);
	ASSERT_OK(cluster_change_node(&profile, "w2", &changes, &needs_restart, &err));
	ASSERT(needs_restart);
	ASSERT_INT(cluster_pause(&profile, profile_find_node(&profile, "w2"), false, NULL, NULL),
		   1);
	ASSERT_INT(cluster_pause(&profile, profile_find_node(&profile, "w3"), true, NULL, NULL), 1);
	plan = plan_of(HEAD "nodes:\n"
			    "- {role: control-plane, name: a}\n"
			    "- {role: control-plane, name: b}\n"
			    "- {role: worker, name: w1, memory: 1g, labels: {tier: web}}\n"
			    "- {role: worker, name: w2, cpus: 1}\n"
			    "- {role: worker, name: w3}\n");
	ASSERT_STR(plan, "node 'w1' is started: it is down\nnode 'w2' is restarted\n"
			 "node 'w3' is unpaused: it is paused");
	ASSERT_OK(apply_text(before_text, &usual, &err));
	assert_world("bridge:mktest etcd:a etcd:b front-door kubeconfig limited:w2 "
		     "member:a member:b member:w1 member:w2 member:w3 "
		     "running:a running:b running:w1 running:w2 running:w3");
}

TEST(a_node_that_runs_is_not_said_to_be_down)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	cleanup_free char *plan = NULL;
	cleanup_free char *after = NULL;

	free(begin_round(0));
	ASSERT_INT(make_cluster(), 0);
	ASSERT_OK(profile_load("test", &profile, &err));
	strlist_add(&names, "w1");
	/* As if the command that drains it had been killed then. */
	ASSERT_OK(drain_nodes(&profile, &names, DRAIN_CONTROLLED, 10, NULL, &err));
	plan = plan_of(before_text);
	ASSERT_STR(plan, "node 'w1' is made schedulable again: a command that drained it did not "
			 "finish");
	ASSERT(strstr(
		node_need_prospect(node_need_find(&profile, profile_find_node(&profile, "w1"))),
		"runs, would be made schedulable again"));
	ASSERT_INT(node_need_find(&profile, profile_find_node(&profile, "w2")), NODE_NEEDS_NOTHING);
	ASSERT_OK(apply_text(before_text, &usual, &err));
	after = plan_of(before_text);
	ASSERT_STR(after, "");
	assert_world("bridge:mktest etcd:a etcd:b front-door kubeconfig "
		     "member:a member:b member:w1 member:w2 member:w3 "
		     "running:a running:b running:w1 running:w2 running:w3");
}

TEST(nodes_that_are_not_in_the_file_stay_unless_pruned)
{
	static const char text[] = HEAD "nodes:\n"
					"- {role: control-plane, name: a}\n"
					"- {role: control-plane, name: b}\n"
					"- {role: worker, name: w2, cpus: 2}\n";
	static const struct apply_options careful = { .wait_seconds = 20 };

	free(begin_round(0));
	ASSERT_INT(make_cluster(), 0);
	ASSERT_OK(apply_text(text, &careful, &err));
	assert_world("bridge:mktest etcd:a etcd:b front-door kubeconfig "
		     "member:a member:b member:w1 member:w2 member:w3 "
		     "running:a running:b running:w1 running:w2 running:w3");
	ASSERT_OK(apply_text(text, &usual, &err));
	assert_world("bridge:mktest etcd:a etcd:b front-door kubeconfig "
		     "member:a member:b member:w2 running:a running:b running:w2");
}

/* What can't be done is said before anything is. */
static void assert_refused(const char *text, const char *words)
{
	cleanup_with(error_clear) struct error err = ERROR_INIT;
	cleanup_free char *before = NULL;
	cleanup_free char *after = NULL;
	cleanup_with(profile_release) struct profile one = PROFILE_INIT;
	cleanup_with(profile_release) struct profile other = PROFILE_INIT;

	ASSERT_INT(profile_load("test", &one, NULL), 0);
	before = profile_print(&one);
	ASSERT(apply_text(text, &usual, &err) < 0);
	ASSERT(err.reason == &reason_usage || err.reason == &reason_cluster_file);
	if (!strstr(err.text, words))
		ASSERT_STR(err.text, words);
	ASSERT_INT(profile_load("test", &other, NULL), 0);
	after = profile_print(&other);
	ASSERT_STR(after, before);
}

TEST(what_can_not_be_done_as_a_whole_is_not_begun)
{
	static const char only[] = HEAD "nodes:\n- {role: control-plane, name: %s}\n"
					"- {role: worker, name: w9}\n";
	cleanup_free char *anew = xasprintf(only, "a, maxPods: 5");
	cleanup_free char *same = xasprintf(only, "a");

	free(begin_round(0));
	ASSERT_INT(make_cluster(), 0);
	assert_refused(HEAD "cni: none\nnetwork: {dnsDomain: x.y}\n",
		       "has changes that are not possible on an existing cluster: "
		       "network.dnsDomain cluster.local -> x.y; nothing was changed");
	assert_refused(
		HEAD "nodes:\n- {role: control-plane, name: a}\n"
		     "- {role: worker, name: w1, staticIP: 10.9.9.9}\n",
		"f.yaml:7:3: node 'w1': --static-ip: '10.9.9.9' is not a usable node address");
	assert_refused(HEAD "nodes:\n- {role: control-plane, name: a}\n"
			    "- {role: control-plane, name: b}\n"
			    "- {role: worker, name: w2, staticIP: 192.168.39.6}\n"
			    "- {role: worker, name: w3, staticIP: 192.168.39.5}\n",
		       "another node has '192.168.39.6'");
	assert_refused(
		HEAD "network: {ports: [\"8080:30080@w7\"]}\n"
		     "nodes:\n- {role: control-plane, name: a}\n",
		"f.yaml: port '8080:30080@w7' is forwarded to node 'w7', but cluster 'test' has no "
		"such node");
	/* Of two control planes one may be made anew, but not the last one. */
	ASSERT_OK(apply_text(same, &usual, &err));
	assert_refused(anew,
		       "node 'a' is the only control plane, so it cannot be deleted and created "
		       "again (maxPods 110 -> 5)");
}

TEST(control_planes_can_be_others_than_before)
{
	free(begin_round(0));
	ASSERT_INT(make_cluster(), 0);
	ASSERT_OK(apply_text(HEAD "nodes:\n"
				  "- {role: worker, name: a}\n"
				  "- {role: control-plane, name: w1}\n"
				  "- {role: control-plane, name: new}\n",
			     &usual, &err));
	assert_world("bridge:mktest etcd:new etcd:w1 front-door kubeconfig "
		     "member:a member:new member:w1 running:a running:new running:w1");
}

/* Make an archive with one image, which has a file with TEXT, and return its ID for the caller to
 * free. */
static char *make_archive(const char *path, const char *text)
{
	cleanup_with(oci_image_release) struct oci_image image = OCI_IMAGE_INIT;
	char id[SHA256_HEX_SIZE];

	image.name = "docker.io/library/app:1";
	image.arch = oci_host_arch();
	oci_image_add_text(&image, "file", text, 0644);
	ASSERT_OK(oci_image_write(&image, path, id, &err));
	return xasprintf("sha256:%s", id);
}

/* Whether the node called NAME is said to have the image ID, and no other. */
static bool has_image(const char *name, const char *id)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_free char *path = xasprintf("%s/profiles/test/nodes/%s/own-images",
					    getenv("MANYKUBE_HOME"), name);
	cleanup_free char *expected = xasprintf("docker.io/library/app:1\n%s\n", id);

	return file_read(path, 4096, &text, NULL) == 0 && strcmp(text.text, expected) == 0;
}

TEST(nodes_have_images_and_others_when_these_change)
{
	cleanup_free char *archive = xasprintf("%s/app.tar", test_dir());
	cleanup_free char *with = xasprintf("%simages: [%s]\n", before_text, archive);
	cleanup_free char *first = make_archive(archive, "first");
	cleanup_free char *second = NULL;
	const struct cluster_options again = { .wait = WAIT_NODES, .wait_seconds = 20 };
	struct cluster_outcome outcome;

	free(begin_round(0));
	ASSERT_INT(make_cluster(), 0);
	ASSERT(!has_image("w1", first));
	for (int i = 0; i < 2; i++) {
		ASSERT_OK(apply_text(with, &usual, &err));
		ASSERT(has_image("a", first));
		ASSERT(has_image("w1", first));
	}
	assert_world("bridge:mktest etcd:a etcd:b front-door images:a images:b images:w1 images:w2 "
		     "images:w3 kubeconfig member:a member:b member:w1 member:w2 "
		     "member:w3 running:a running:b running:w1 running:w2 running:w3");
	second = make_archive(archive, "second");
	ASSERT_OK(apply_text(with, &usual, &err));
	ASSERT(has_image("w1", second));
	/* Those that have it can do without. */
	ASSERT(unlink(archive) == 0);
	ASSERT_OK(cluster_start("test", &again, NULL, &outcome, &err));
	ASSERT(has_image("w1", second));
}

TEST(nobody_is_told_to_upgrade_to_an_older_version)
{
	static const char older[] = "apiVersion: manykube/v1\nkind: Cluster\nname: test\n"
				    "kubernetesVersion: v1.35.4\n";
	cleanup_with(error_clear) struct error why = ERROR_INIT;

	free(begin_round(0));
	ASSERT_INT(make_cluster(), 0);
	ASSERT_INT(apply_text(older, &usual, &why), -EINVAL);
	ASSERT(strstr(why.text, "kubernetesVersion v1.36.3 -> v1.35.4"));
	ASSERT(strstr(why.hint, "creates another cluster"));
}
