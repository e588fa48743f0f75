/* What has to be done to change a cluster to match a file. */

#include "plan/apply-plan.h"

#include "plan/plan.h"
#include "test.h"

#define HEAD "apiVersion: manykube/v1\nkind: Cluster\nname: test\n"

static void read_text(const char *text, struct cluster_file *ret)
{
	static const struct cluster_file_before name = { .usual_name = "usual" };

	ASSERT_OK(cluster_file_parse("f.yaml", text, strlen(text), &name, ret, &err));
}

/* A cluster as `start` would make it of the file TEXT. */
static void make_cluster(const char *text, struct profile *ret)
{
	cleanup_with(cluster_file_release) struct cluster_file file = CLUSTER_FILE_INIT;
	struct node *node;

	read_text(text, &file);
	*ret = (struct profile){
		.name = xstrdup("test"),
		.kubernetes_version = xstrdup("v1.36.3"),
		.subnet = xstrdup("192.168.39.0/24"),
		.pod_subnet = xstrdup("10.244.0.0/16"),
		.service_subnet = xstrdup("10.96.0.0/12"),
		.dns_domain = xstrdup("cluster.local"),
		.cni = xstrdup("auto"),
		.api_port = 16443,
		.cpus = file.options.cpus,
		.memory_bytes = file.options.memory_bytes,
		.no_schedule_control_planes = file.options.no_schedule_control_planes
	};
	if (file.options.labels.count)
		strlist_add_all(&ret->labels, file.options.labels.items);
	if (file.options.ports.count)
		strlist_add_all(&ret->ports, file.options.ports.items);
	for (size_t i = 0; i < file.node_count; i++)
		ASSERT_OK(plan_node(ret, &file.nodes[i], &node, &err));
}

/* What is to be done, a line for each step, to make a cluster of the file BEFORE that of AFTER. */
static char *make_plan(const char *before, const char *after, bool unsaid_stays)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_with(cluster_file_release) struct cluster_file file = CLUSTER_FILE_INIT;
	cleanup_with(apply_plan_release) struct apply_plan plan = APPLY_PLAN_INIT;
	cleanup_with(strlist_release) struct strlist lines = STRLIST_INIT;

	make_cluster(before, &profile);
	read_text(after, &file);
	apply_plan_make(&profile, &file, unsaid_stays, &plan);
	for (size_t i = 0; i < plan.count; i++) {
		cleanup_free char *words = apply_step_words(&plan.steps[i]);

		strlist_add(&lines, words);
	}
	return strlist_join(&lines, "\n");
}

static char *plan_of(const char *before, const char *after)
{
	return make_plan(before, after, false);
}

#define BEFORE                                                                \
	HEAD "network: {ports: [80]}\n"                                       \
	     "defaults: {memory: 2g, labels: {all: \"yes\"}}\n"               \
	     "nodes:\n"                                                       \
	     "- {role: control-plane, name: main}\n"                          \
	     "- {role: worker, name: big, memory: 4g, labels: {tier: web}}\n" \
	     "- {role: worker, count: 2}\n"

TEST(the_same_file_leaves_nothing_to_do)
{
	cleanup_free char *plan = plan_of(BEFORE, BEFORE);
	cleanup_free char *other = plan_of(
		BEFORE, HEAD
		"network: {ports: [80], serviceSubnet: 10.96.0.0/12}\n"
		"kubernetesVersion: v1.36\n"
		"defaults: {memory: 2g}\n"
		"nodes:\n"
		"- {role: control-plane, name: main, labels: {all: \"yes\"}}\n"
		"- {role: worker, name: node-2, labels: {all: \"yes\"}, memory: 2048m}\n"
		"- {role: worker, name: node-1, labels: {all: \"yes\"}}\n"
		"- {role: worker, name: big, memory: 4g, labels: {tier: web, all: \"yes\"}}\n");

	ASSERT_STR(plan, "");
	/* Another way to say the same: only what is for nodes yet to come differs. */
	ASSERT_STR(other, "the cluster changes: defaults.labels -all=yes");
}

TEST(nodes_are_added_changed_restarted_replaced_and_deleted)
{
	cleanup_free char *plan = plan_of(
		BEFORE, HEAD "network: {ports: [80]}\n"
			     "defaults: {memory: 2g, labels: {all: \"yes\"}}\n"
			     "nodes:\n"
			     "- {role: control-plane, name: main, taints: [\"a=b:NoSchedule\"]}\n"
			     "- {role: worker, name: big, memory: 3g, labels: {tier: db, all: ~}}\n"
			     "- {role: worker, name: node-1, maxPods: 5, env: {A: b}}\n"
			     "- {role: worker, name: new}\n"
			     "- {role: control-plane, name: other}\n");

	ASSERT_STR(
		plan,
		"node 'main' changes: taints +a=b:NoSchedule\n"
		"node 'big' changes: memory 4g -> 3g, labels +tier=db -all=yes "
		"-tier=web\n"
		"node 'node-1' is deleted and created again without its data: env +A=b, maxPods 110 -> 5\n"
		"node 'new' is added: role worker\n"
		"node 'other' is added: role control-plane\n"
		"node 'node-2' is deleted");
}

TEST(what_all_nodes_have_changes_those_that_have_not_their_own)
{
	cleanup_free char *plan = plan_of(
		BEFORE, HEAD "network: {ports: [80]}\n"
			     "defaults: {memory: 3g, labels: {all: \"no\"}}\n"
			     "nodes:\n"
			     "- {role: control-plane, name: main}\n"
			     "- {role: worker, name: big, memory: 4g, labels: {tier: web}}\n"
			     "- {role: worker, count: 2, memory: 2g, labels: {all: \"yes\"}}\n");

	ASSERT_STR(plan, "the cluster changes: defaults.memory 2g -> 3g\n"
			 "the cluster changes: defaults.labels +all=no -all=yes\n"
			 "node 'main' changes: memory 2g -> 3g, labels +all=no -all=yes\n"
			 "node 'big' changes: labels +all=no -all=yes");
}

TEST(what_a_cluster_was_made_for_can_not_be_changed)
{
	cleanup_free char *plan = plan_of(
		BEFORE, HEAD "kubernetesVersion: v1.35\n"
			     "cni: none\n"
			     "offline: true\n"
			     "network: {ports: [81], subnet: 10.0.0.0/24, apiPort: 16443}\n"
			     "featureGates: {A: true}\n"
			     "defaults: {memory: 2g, labels: {all: \"yes\"}}\n"
			     "nodes:\n"
			     "- {role: worker, name: main}\n"
			     "- {role: control-plane, name: big, memory: 4g, labels: {tier: web}}\n"
			     "- {role: worker, name: node-1, staticIP: 192.168.39.4}\n"
			     "- {role: worker, name: node-2, staticIP: 192.168.39.9}\n");

	ASSERT_STR(
		plan,
		"the cluster cannot be changed: kubernetesVersion v1.36.3 -> v1.35.4\n"
		"the cluster changes: offline false -> true\n"
		"the cluster changes: cni auto -> none\n"
		"the cluster cannot be changed: network.subnet 192.168.39.0/24 -> "
		"10.0.0.0/24\n"
		"the cluster changes: network.ports +81 -80\n"
		"the cluster cannot be changed: featureGates +A=true\n"
		"node 'big' is deleted and created again without its data: role worker -> control-plane\n"
		"node 'main' is deleted and created again without its data: role control-plane -> worker\n"
		"node 'node-2' is deleted and created again without its data: staticIP 192.168.39.5 -> "
		"192.168.39.9");
}

TEST(control_planes_can_be_kept_free_of_pods)
{
	cleanup_free char *plan = plan_of(
		BEFORE, HEAD "network: {ports: [80]}\n"
			     "defaults: {memory: 2g, labels: {all: \"yes\"}}\n"
			     "nodes:\n"
			     "- {role: control-plane, name: main, noSchedule: true}\n"
			     "- {role: worker, name: big, memory: 4g, labels: {tier: web}}\n"
			     "- {role: worker, count: 2}\n");
	cleanup_free char *nodes = plan_of(BEFORE,
					   HEAD "network: {ports: [80]}\n"
						"defaults: {memory: 2g, labels: {all: \"yes\"}}\n");

	ASSERT_STR(plan, "node 'main' changes: taints "
			 "+node-role.kubernetes.io/control-plane:NoSchedule");
	/* A file without nodes says nothing of them. */
	ASSERT_STR(nodes, "");
}

TEST(a_disk_can_only_grow)
{
	static const char nodes[] = HEAD "nodes:\n"
					 "- {role: control-plane, name: a, diskSize: %s}\n"
					 "- {role: worker, name: b%s}\n";
	cleanup_free char *before = xasprintf(nodes, "4g", "");
	cleanup_free char *larger = xasprintf(nodes, "5g", "");
	cleanup_free char *other = xasprintf(nodes, "3g", ", diskSize: 3g");
	cleanup_free char *grow = plan_of(before, larger);
	cleanup_free char *change = plan_of(before, other);

	ASSERT_STR(grow, "node 'a' is restarted: diskSize 4g -> 5g");
	ASSERT(strstr(change,
		      "node 'a' is deleted and created again without its data: diskSize 4g -> 3g\n"
		      "node 'b' is deleted and created again without its data: diskSize none"));
}

TEST(what_a_file_does_not_say_can_stay)
{
	static const char little[] = HEAD "nodes:\n"
					  "- {role: control-plane, name: main}\n"
					  "- {role: worker, name: big, memory: 3g}\n"
					  "- {role: worker, count: 2}\n";
	cleanup_free char *plan = make_plan(BEFORE, little, true);

	ASSERT_STR(plan, "node 'big' changes: memory 4g -> 3g, labels -tier=web");
}

TEST(what_a_file_of_kinds_can_not_say_stays)
{
	static const char before[] = HEAD "network: {ports: [80]}\n"
					  "defaults: {memory: 2g, labels: {all: \"yes\"}}\n"
					  "nodes:\n"
					  "- {role: control-plane, name: test-control-plane}\n";
	static const char kind[] = "kind: Cluster\n"
				   "apiVersion: kind.x-k8s.io/v1alpha4\n"
				   "name: test\n"
				   "nodes: [{role: control-plane}]\n";
	cleanup_with(cluster_file_release) struct cluster_file file = CLUSTER_FILE_INIT;
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_free char *plan = make_plan(before, kind, true);

	ASSERT_STR(plan, "the cluster changes: network.ports -80");
	make_cluster(before, &profile);
	read_text(kind, &file);
	ASSERT(file.foreign);
	apply_plan_take(&file, &profile);
	ASSERT_INT(profile.ports.count, 0);
	ASSERT_INT(profile.memory_bytes, UINT64_C(2) << 30);
	ASSERT_STR(profile.labels.items[0], "all=yes");
}

TEST(a_cluster_becomes_what_its_file_says_as_far_as_that_may_change)
{
	cleanup_with(cluster_file_release) struct cluster_file file = CLUSTER_FILE_INIT;
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;

	make_cluster(BEFORE, &profile);
	read_text(HEAD "cni: none\noffline: true\nnetwork: {apiPort: 7000}\n"
		       "defaults: {cpus: 2, baseImage: /}\n",
		  &file);
	apply_plan_take(&file, &profile);
	ASSERT_STR(profile.cni, "none");
	ASSERT(profile.offline);
	ASSERT_INT(profile.api_port, 7000);
	ASSERT(strlist_has(&profile.asked, "network.apiPort"));
	ASSERT_INT(profile.cpus, 2);
	ASSERT_INT(profile.memory_bytes, 0);
	ASSERT_INT(profile.ports.count + profile.labels.count, 0);
	ASSERT_STR(profile.base_image, "/");
}

TEST(a_node_may_have_all_there_is_whatever_others_have)
{
	static const char before[] = HEAD "defaults: {cpus: 1, memory: 2g}\n"
					  "nodes:\n"
					  "- {role: control-plane, name: a}\n"
					  "- {role: worker, name: b, cpus: max}\n";
	static const char after[] = HEAD
		"defaults: {cpus: max, memory: 2g}\n"
		"nodes:\n"
		"- {role: control-plane, name: a, cpus: 1, memory: no-limit}\n"
		"- {role: worker, name: b}\n";
	cleanup_free char *same = plan_of(before, before);
	cleanup_free char *plan = plan_of(before, after);

	ASSERT_STR(same, "");
	ASSERT_STR(plan, "the cluster changes: defaults.cpus 1 -> max\n"
			 "node 'a' changes: memory 2g -> max");
}

TEST(another_spelling_is_no_change)
{
	cleanup_with(cluster_file_release) struct cluster_file file = CLUSTER_FILE_INIT;
	cleanup_with(cluster_file_release) struct cluster_file other = CLUSTER_FILE_INIT;
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_with(apply_plan_release) struct apply_plan same = APPLY_PLAN_INIT;
	cleanup_with(apply_plan_release) struct apply_plan plan = APPLY_PLAN_INIT;
	cleanup_free char *words = NULL;

	make_cluster(HEAD, &profile);
	strlist_split(&profile.registry_mirrors, "http://a docker.io=http://a/", ' ');
	strlist_add(&profile.extra_config, "kube-apiserver.v=4");
	strlist_add(&profile.labels, "tier");
	strlist_add(&profile.ports, "8080:30080");
	read_text(HEAD "network: {ports: [\"127.0.0.1:8080:30080\"]}\n"
		       "extraConfig: {apiserver: {v: 4}}\n"
		       "registries: {mirrors: {docker.io: \"http://a\"}}\n"
		       "defaults: {labels: {tier: \"\"}}\n",
		  &file);
	apply_plan_make(&profile, &file, false, &same);
	ASSERT_INT(same.count, 0);
	/* What stays in another spelling is not said to go. */
	read_text(HEAD "network: {ports: [\"127.0.0.1:8080:30080\"]}\n"
		       "extraConfig: {apiserver: {v: 4}}\n"
		       "registries: {mirrors: {docker.io: [\"http://a\", \"http://b\"]}}\n"
		       "defaults: {labels: {tier: \"\"}}\n",
		  &other);
	apply_plan_make(&profile, &other, false, &plan);
	ASSERT_INT(plan.count, 1);
	words = apply_step_words(&plan.steps[0]);
	ASSERT_STR(words, "the cluster changes: registries.mirrors +docker.io=http://b");
}
