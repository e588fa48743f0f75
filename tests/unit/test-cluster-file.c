/* Files that describe clusters. */

#include "describe/file.h"

#include "base/file.h"
#include "base/strbuf.h"
#include "describe/file-fields.h"
#include "plan/plan.h"
#include "record/options.h"
#include "test.h"

#define HEAD "apiVersion: manykube/v1\nkind: Cluster\n"
#define KIND "apiVersion: kind.x-k8s.io/v1alpha4\nkind: Cluster\n"

static const struct cluster_file_before usual = { .usual_name = "usual" };

static void read_text(const char *text, struct cluster_file *ret)
{
	ASSERT_OK(cluster_file_parse("f.yaml", text, strlen(text), &usual, ret, &err));
}

static void assert_words(const struct strlist *words, const char *want)
{
	cleanup_free char *joined = strlist_join(words, " ");

	ASSERT_STR(joined, want);
}

/* The file as JSON on one line. */
static char *shown(const struct cluster_file *file)
{
	json_auto_t *json = cluster_file_to_json(file);

	return json_dumps(json, JSON_COMPACT);
}

static void assert_refused(const char *text, const char *why)
{
	cleanup_with(cluster_file_release) struct cluster_file file = CLUSTER_FILE_INIT;
	cleanup_with(error_clear) struct error err = ERROR_INIT;

	if (cluster_file_parse("f.yaml", text, strlen(text), &usual, &file, &err) != -EBADMSG)
		test_fail(__FILE__, __LINE__, "this was not refused:\n%s", text);
	if (!strstr(err.text, why))
		ASSERT_STR(err.text, why);
	ASSERT(err.reason == &reason_cluster_file || err.reason == &reason_version_unsupported);
	ASSERT_INT(file.node_count, 0);
}

TEST(a_file_says_what_the_cluster_and_its_nodes_are)
{
	static const char text[] = HEAD
		"name: dev\n"
		"kubernetesVersion: 1.36\n"
		"offline: true\n"
		"cni: none\n"
		"network:\n"
		"  subnet: 192.168.60.0/24\n"
		"  apiPort: 6443\n"
		"  ports: [\"8080:30080\", 9090]\n"
		"featureGates: {A: true, B: false}\n"
		"extraConfig:\n"
		"  apiserver: {v: 4}\n"
		"  kubelet: {evictionHard: {memory.available: 5%}}\n"
		"certExpiration: 2h\n"
		"registries:\n"
		"  mirrors: {quay.io: [\"https://a.example\", \"https://b.example\"]}\n"
		"defaults:\n"
		"  cpus: 2\n"
		"  memory: 2Gi\n"
		"  labels: {all: \"yes\"}\n"
		"nodes:\n"
		"- role: worker\n"
		"  count: 2\n"
		"  taints: [\"dedicated=db:NoSchedule\"]\n"
		"- role: control-plane\n"
		"  name: main\n"
		"- role: worker\n"
		"  name: node-2\n"
		"  memory: 512m\n"
		"  labels: {tier: db, all: null}\n"
		"  extraConfig: {kubelet: {v: 5}}\n"
		"  staticIP: 192.168.60.9\n";
	cleanup_with(cluster_file_release) struct cluster_file file = CLUSTER_FILE_INIT;

	read_text(text, &file);
	ASSERT_STR(file.name, "dev");
	ASSERT_STR(file.options.kubernetes_version, "v1.36.3");
	ASSERT(file.options.offline && file.options.given.offline);
	ASSERT(!file.options.given.embed_certs);
	ASSERT_STR(file.options.cni, "none");
	ASSERT_STR(file.options.subnet, "192.168.60.0/24");
	ASSERT_INT(file.options.api_port, 6443);
	assert_words(&file.options.ports, "8080:30080 9090");
	assert_words(&file.options.feature_gates, "A=true B=false");
	assert_words(&file.options.extra_config,
		     "apiserver.v=4 kubelet.evictionHard={\"memory.available\":\"5%\"}");
	ASSERT_INT(file.options.cert_seconds, 7200);
	assert_words(&file.options.registry_mirrors,
		     "quay.io=https://a.example quay.io=https://b.example");
	ASSERT_INT(file.options.cpus, 2);
	ASSERT_INT(file.options.memory_bytes, UINT64_C(2) << 30);
	ASSERT_INT(file.node_count, 4);
	ASSERT_STR(file.nodes[0].name, "main");
	ASSERT(file.nodes[0].control_plane);
	ASSERT_STR(file.nodes[1].name, "node-1");
	ASSERT_STR(file.nodes[2].name, "node-3");
	assert_words(&file.nodes[2].taints, "dedicated=db:NoSchedule");
	ASSERT_STR(file.nodes[3].name, "node-2");
	ASSERT(!file.nodes[3].control_plane);
	ASSERT_INT(file.nodes[3].memory_bytes, UINT64_C(512) << 20);
	assert_words(&file.nodes[3].labels, "tier=db all-");
	assert_words(&file.nodes[3].extra_config, "kubelet.v=5");
	ASSERT_STR(file.nodes[3].address, "192.168.60.9");
}

TEST(drivers_in_a_file_may_have_minikubes_names)
{
	static const char text[] = HEAD "defaults: {driver: kvm2}\n"
					"nodes:\n"
					"- {role: control-plane, driver: auto}\n"
					"- {role: worker, driver: podman}\n";
	cleanup_with(cluster_file_release) struct cluster_file file = CLUSTER_FILE_INIT;

	read_text(text, &file);
	ASSERT_STR(file.options.driver, "qemu");
	ASSERT(!file.nodes[0].driver);
	ASSERT_STR(file.nodes[1].driver, "docker");
}

TEST(a_file_can_say_next_to_nothing)
{
	cleanup_with(cluster_file_release) struct cluster_file file = CLUSTER_FILE_INIT;

	read_text(HEAD "nodes:\ndefaults:\nname: ~\n", &file);
	ASSERT_STR(file.name, "usual");
	ASSERT_INT(file.node_count, 0);
	ASSERT_INT(file.given.count, 0);
}

TEST(bad_files_are_refused_with_the_place_and_what_was_meant)
{
	static const struct {
		const char *text;
		const char *why;
	} wrong[] = {
		{ "", "f.yaml:1:1: the file is empty" },
		{ "# nothing\n", "f.yaml:1:1: the file is empty" },
		{ "just words", "f.yaml:1:1: the file must be a mapping" },
		{ "{{{", "f.yaml:1:" },
		{ "kind: Cluster\n", "f.yaml:1:1: 'apiVersion' is missing" },
		{ "apiVersion: manykube/v1\n", "f.yaml:1:1: 'kind' is missing" },
		{ "apiVersion: manykube/v2\nkind: Cluster\n", "did you mean 'manykube/v1'?" },
		{ "apiVersion: manykube/v1\nkind: Pod\n",
		  "f.yaml:2:7: the kind must be 'Cluster'" },
		{ "apiVersion: k3d.io/v1alpha5\nkind: Simple\n",
		  "f.yaml:1:13: unsupported apiVersion 'k3d.io/v1alpha5'" },
		{ "apiVersion: x/v1\nkind: Cluster\n",
		  "f.yaml:1:13: unsupported apiVersion 'x/v1'" },
		{ HEAD "\tname: x\n", "f.yaml:3:1: tab in the indentation" },
		{ HEAD "name: a\nname: b\n", "f.yaml:4:1: duplicate key 'name'" },
		{ HEAD "---\n" HEAD, "f.yaml:3:1: a second document" },
		{ HEAD "nmae: x\n", "f.yaml:3:1: unknown field 'nmae'; did you mean 'name'?" },
		{ HEAD "subnet: 10.0.0.0/8\n", "did you mean 'network.subnet'?" },
		{ HEAD "memory: 2g\n", "did you mean 'defaults.memory'?" },
		{ HEAD "role: worker\n", "did you mean 'nodes[].role'?" },
		{ HEAD "defaults: {driver: hyperkit}\n",
		  "there is no driver 'hyperkit'; available drivers" },
		{ HEAD "zzzzzz: 2g\n", "f.yaml:3:1: unknown field 'zzzzzz'" },
		{ HEAD "name: Not_One\n",
		  "f.yaml:3:7: name: 'Not_One' is not a valid cluster name" },
		{ HEAD "name: [a]\n", "f.yaml:3:7: 'name' must be a string; this is a list" },
		{ HEAD "network: here\n", "f.yaml:3:10: 'network' must be a mapping, not 'here'" },
		{ HEAD "network: {apiPort: 70000}\n",
		  "must be a number from 1 to 65535, not '70000'" },
		{ HEAD "network: {apiPort: \"80\"}\n", "not the string '80'" },
		{ HEAD "network: {subnet: 10.0.0.1/8}\n", "f.yaml:3:19: subnet: " },
		{ HEAD "network: {ports: 8080}\n",
		  "'ports' must be a list of strings, not '8080'" },
		{ HEAD "network: {ports: [8080, [1]]}\n", "f.yaml:3:25: 'ports'" },
		{ HEAD "network: {ports: [8080, 8080]}\n", "'ports' has '8080' twice" },
		{ HEAD "offline: yes\n", "'offline' must be true or false, not 'yes'" },
		{ HEAD "offline: \"true\"\n", "not the string 'true'" },
		{ HEAD "cni: nome\n", "f.yaml:3:6: cni: 'nome' is no pod network" },
		{ HEAD "cni: calico\n", "f.yaml:3:6: cni: manykube has no pod network 'calico'" },
		{ HEAD "cni: ./none.yaml\n", "none.yaml' does not exist on this host" },
		{ HEAD "kubernetesVersion: v1.2.3\n", "f.yaml:3:20: kubernetesVersion: " },
		{ HEAD "featureGates: {A: maybe}\n",
		  "'A' of 'featureGates' must be true or false" },
		{ HEAD "featureGates: [A]\n", "'featureGates' must be a mapping of names" },
		{ HEAD "extraConfig: {kubelett: {v: 1}}\n", "unknown component 'kubelett'" },
		{ HEAD "extraConfig: {kubelet: 1}\n", "'extraConfig' must be" },
		{ HEAD "extraConfig: {kubelet: {v: ~}}\n",
		  "'v' of 'extraConfig' must be a string" },
		{ HEAD "certExpiration: soon\n", "f.yaml:3:17: certExpiration: 'soon'" },
		{ HEAD "images: [/etc/passwd]\n",
		  "f.yaml:3:10: images: '/etc/passwd' is not an image archive" },
		{ HEAD "registries: {mirrors: {a: b}}\n", "f.yaml:3:27: mirrors: " },
		{ HEAD "kubeadmPatches: [{kind: X, merge: {}}]\n", "kubeadm has no 'X'" },
		{ HEAD "defaults: {labels: {a: ~}}\n", "'a' of 'labels' must be a string" },
		{ HEAD "defaults: {labels: {-a: b}}\n", "f.yaml:3:25: labels: " },
		{ HEAD "defaults: {memory: 0}\n", "'memory' has no value" },
		{ HEAD "defaults: {diskSize: 1g}\n",
		  "f.yaml:3:22: diskSize: --disk-size: a node needs" },
		{ HEAD "defaults: {memory: lots}\n", "'lots' is not a size" },
		{ HEAD "defaults: {mounts: [\"/no/such:/x\"]}\n", "'/no/such' does not exist" },
		{ HEAD "defaults: {role: worker}\n", "did you mean 'nodes[].role'?" },
		{ HEAD "nodes: []\n", "no node is a control plane" },
		{ HEAD "nodes: {role: worker}\n", "'nodes' must be a list of mappings" },
		{ HEAD "nodes: [worker]\n", "f.yaml:3:9: a node must be a mapping" },
		{ HEAD "nodes: [{count: 2}]\n", "the node has no 'role'" },
		{ HEAD "nodes: [{role: boss}]\n", "'role' must be control-plane or worker" },
		{ HEAD "nodes: [{role: worker}]\n", "f.yaml:3:1: no node is a control plane" },
		{ HEAD "nodes:\n- role: control-plane\n  count: -1\n",
		  "f.yaml:5:10: 'count' must be a number from 1 to 250, not '-1'" },
		{ HEAD "nodes: [{role: worker, count: 0}]\n", "not '0'" },
		{ HEAD "nodes: [{role: control-plane}, {role: worker, count: 250}]\n",
		  "at most 250 nodes" },
		{ HEAD "nodes: [{role: worker, count: 2, name: a}]\n", "'name' is for one node" },
		{ HEAD "nodes: [{role: worker, name: A}]\n", "'A' is not a valid node name" },
		{ HEAD "nodes:\n- {role: control-plane, name: a}\n- {role: worker, name: a}\n",
		  "f.yaml:5:24: two nodes have the name 'a'; the first is on line 4" },
		{ HEAD "nodes:\n- {role: control-plane, staticIP: 10.0.0.2}\n"
		       "- {role: worker, staticIP: 10.0.0.2}\n",
		  "two nodes have the address '10.0.0.2'" },
		{ HEAD "nodes: [{role: worker, staticIP: 10.0.0}]\n", "'10.0.0' is not an IPv4" },
		{ HEAD "nodes: [{role: worker, memroy: 1g}]\n", "did you mean 'memory'?" },
		{ HEAD "nodes: [{role: worker, taints: [x]}]\n", "f.yaml:3:33: taints: " },
		{ HEAD "nodes: [{role: worker, extraConfig: {apiserver: {v: 1}}}]\n",
		  "a node can only have its own arguments of the kubelet" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		assert_refused(wrong[i].text, wrong[i].why);
}

TEST(a_large_file_is_refused_unread)
{
	cleanup_with(cluster_file_release) struct cluster_file file = CLUSTER_FILE_INIT;
	cleanup_with(error_clear) struct error err = ERROR_INIT;
	cleanup_free char *path = xasprintf("%s/large.yaml", test_dir());
	FILE *large = fopen(path, "w");

	ASSERT(large);
	ASSERT_INT(ftruncate(fileno(large), 100 << 20), 0);
	fclose(large);
	ASSERT_INT(cluster_file_read(path, &usual, &file, &err), -EBADMSG);
	ASSERT(strstr(err.text, "large.yaml:1:1: ") && strstr(err.text, "larger than 1 MiB"));
	ASSERT(err.reason == &reason_cluster_file);
	error_clear(&err);
	ASSERT_INT(cluster_file_read("/no/such.yaml", &usual, &file, &err), -ENOENT);
	ASSERT(err.reason == &reason_host_path);
}

TEST(under_sudo_a_file_is_read_with_the_rights_of_the_caller)
{
	cleanup_with(cluster_file_release) struct cluster_file file = CLUSTER_FILE_INIT;
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	cleanup_free char *secret = xasprintf("%s/secret", test_dir());
	cleanup_free char *path = xasprintf("%s/f.yaml", test_dir());
	static const char text[] = HEAD "secret: hunter2\n";

	if (geteuid() != 0)
		test_skip("needs root");
	ASSERT_INT(chmod(test_dir(), 0755), 0);
	ASSERT_INT(setenv("SUDO_UID", "12345", 1), 0);
	ASSERT_INT(setenv("SUDO_GID", "12345", 1), 0);
	ASSERT_OK(file_replace(secret, text, strlen(text), 0600, &err));
	ASSERT_INT(symlink(secret, path), 0);
	ASSERT_INT(cluster_file_read(path, &usual, &file, &why), -EACCES);
	ASSERT(why.reason == &reason_cluster_file);
}

TEST(relative_paths_begin_beside_the_file)
{
	cleanup_with(cluster_file_release) struct cluster_file file = CLUSTER_FILE_INIT;
	cleanup_free char *path = xasprintf("%s/f.yaml", test_dir());
	cleanup_free char *want = xasprintf("%s/src:/src:ro", test_dir());
	cleanup_free char *dir = xasprintf("%s/src", test_dir());
	static const char text[] = HEAD "mounts: [\"./src:/src:ro\"]\n";

	ASSERT_OK(file_make_dirs(dir, 0755, &err));
	ASSERT_OK(file_replace(path, text, strlen(text), 0644, &err));
	ASSERT_OK(cluster_file_read(path, &usual, &file, &err));
	assert_words(&file.options.mounts, want);
}

TEST(options_that_were_given_are_stronger_than_the_file)
{
	cleanup_with(cluster_file_release) struct cluster_file file = CLUSTER_FILE_INIT;
	cleanup_with(strlist_release) struct strlist given = STRLIST_INIT;
	struct cluster_options options = { .cpus = 7, .offline = false };

	read_text(HEAD "offline: true\ndefaults: {cpus: 2, maxPods: 9, labels: {a: b}}\n"
		       "network: {ports: [80]}\nnodes: [{role: control-plane}]\n",
		  &file);
	strlist_add(&given, "cpus");
	strlist_add(&given, "ports");
	strlist_add(&options.ports, "90");
	cluster_file_take(&file, &options, &given);
	ASSERT_INT(options.cpus, 7);
	ASSERT_INT(options.max_pods, 9);
	ASSERT(options.offline && options.given.offline);
	ASSERT(!options.given.keep_context);
	assert_words(&options.ports, "90");
	assert_words(&options.labels, "a=b");
	ASSERT_INT(options.add_count, 1);
	/* Weaker sources leave alone what the file gave. */
	ASSERT(strlist_has(&given, "max-pods") && strlist_has(&given, "offline"));
	ASSERT(strlist_has(&given, "nodes") && !strlist_has(&given, "memory"));
	strlist_release(&options.ports);
	strlist_release(&options.labels);
}

TEST(of_mappings_only_the_keys_that_were_given_are_stronger)
{
	cleanup_with(cluster_file_release) struct cluster_file file = CLUSTER_FILE_INIT;
	cleanup_with(strlist_release) struct strlist given = STRLIST_INIT;
	struct cluster_options options = { .cpus = 0 };

	read_text(HEAD "extraConfig: {apiserver: {v: 4, vmodule: a}, kubelet: {v: 2}}\n"
		       "featureGates: {One: true}\n",
		  &file);
	strlist_add(&given, "extra-config");
	strlist_add(&given, "feature-gates");
	strlist_add(&options.extra_config, "apiserver.v=5");
	strlist_add(&options.feature_gates, "Two=false");
	cluster_file_take(&file, &options, &given);
	assert_words(&options.extra_config, "apiserver.vmodule=a kubelet.v=2 apiserver.v=5");
	assert_words(&options.feature_gates, "One=true Two=false");
	strlist_release(&options.extra_config);
	strlist_release(&options.feature_gates);
}

/* What FILE says can be written and read again. */
static void assert_lasting(const struct cluster_file *file)
{
	cleanup_with(cluster_file_release) struct cluster_file again = CLUSTER_FILE_INIT;
	json_auto_t *json = cluster_file_to_json(file);
	cleanup_free char *text = yaml_print(json);
	cleanup_free char *one = shown(file);
	cleanup_free char *two = NULL;

	read_text(text, &again);
	two = shown(&again);
	ASSERT_STR(two, one);
}

TEST(every_example_of_the_table_can_be_read_and_lasts)
{
	cleanup_with(cluster_file_release) struct cluster_file file = CLUSTER_FILE_INIT;
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	const struct setting *field;
	const char *section = NULL;

	setting_for_each(field) {
		if (!(field->places & SETTING_OF_CLUSTER) || field->places & SETTING_OF_DEFAULTS ||
		    field->type == SETTING_NODES || strcmp(field->name, "images") == 0)
			continue; /* this host has no such file, nor those of SETTING_PATH */
		if (field->type == SETTING_MAP)
			section = field->name;
		strbuf_addf(&text, "%s%s: %s\n", section && strchr(field->name, '.') ? "  " : "",
			    file_field_key(field), field->example ? field->example : "");
	}
	for (int node = 0; node < 2; node++) {
		strbuf_add(&text, node ? "nodes:\n- role: control-plane\n-\n" : "defaults:\n");
		setting_for_each(field)
			if (field->places & (node ? SETTING_OF_NODE : SETTING_OF_DEFAULTS) &&
			    field->type != SETTING_PATH && strcmp(field->name, "count") != 0)
				strbuf_addf(&text, "  %s: %s\n", field->name, field->example);
	}
	/* The section has its own entries now. */
	*strstr(text.text, "defaults: \n") = '#';
	read_text(text.text, &file);
	ASSERT_INT(file.node_count, 2);
	ASSERT_INT(file.options.max_pods, 50);
	assert_lasting(&file);
}

TEST(a_cluster_that_exists_is_described_by_the_same_file)
{
	static const char text[] = HEAD "name: test\n"
					"kubernetesVersion: v1.36.3\n"
					"network:\n"
					"  podSubnet: 10.244.0.0/16\n"
					"extraConfig:\n"
					"  apiserver:\n"
					"    v: 4\n"
					"    x: \"1.0\"\n"
					"kubeconfig:\n"
					"  embedCerts: true\n"
					"defaults:\n"
					"  cpus: 1\n"
					"  memory: 2g\n"
					"  labels:\n"
					"    all: \"yes\"\n"
					"    tier: web\n"
					"  taints:\n"
					"  - a=b:NoSchedule\n"
					"  - a=b:NoExecute\n"
					"  env:\n"
					"    A: \"1\"\n"
					"nodes:\n"
					"- role: control-plane\n"
					"  noSchedule: true\n"
					"  name: main\n"
					"  cpus: max\n"
					"  memory: max\n"
					"- role: worker\n"
					"  name: node-1\n"
					"  staticIP: \"192.168.39.9\"\n"
					"  memory: 512m\n"
					"  labels:\n"
					"    tier: db\n"
					"    all: null\n"
					"  taints:\n"
					"  - own:NoSchedule\n"
					"  - a:NoExecute-\n"
					"  env:\n"
					"    A: \"2\"\n";
	cleanup_with(cluster_file_release) struct cluster_file file = CLUSTER_FILE_INIT;
	cleanup_with(cluster_file_release) struct cluster_file again = CLUSTER_FILE_INIT;
	cleanup_with(profile_release) struct profile profile = {
		.name = xstrdup("test"),
		.kubernetes_version = xstrdup("v1.36.3"),
		.subnet = xstrdup("192.168.39.0/24"),
		.pod_subnet = xstrdup("10.244.0.0/16"),
		.cni = xstrdup("auto"),
		.cpus = 1,
		.memory_bytes = UINT64_C(2) << 30,
		.embed_certs = true,
		.api_port = 16443,
	};
	cleanup_with(strlist_release) struct strlist chosen = STRLIST_INIT;
	cleanup_free char *printed = NULL;
	json_auto_t *json = NULL;

	read_text(text, &file);
	strlist_add(&profile.asked, "network.podSubnet");
	strlist_add_all(&profile.labels, file.options.labels.items);
	strlist_add_all(&profile.taints, file.options.taints.items);
	strlist_add_all(&profile.env, file.options.env.items);
	strlist_add_all(&profile.extra_config, file.options.extra_config.items);
	for (size_t i = 0; i < file.node_count; i++) {
		struct node *node;

		ASSERT_OK(plan_node(&profile, &file.nodes[i], &node, &err));
	}
	ASSERT_INT(profile.nodes[0].cpus + profile.nodes[0].memory_bytes, 0);
	ASSERT_INT(profile.nodes[1].cpus, 1);
	assert_words(&profile.nodes[1].labels, "tier=db");
	assert_words(&profile.nodes[1].env, "A=2");
	cluster_file_describe(&profile, &again, &chosen);
	json = cluster_file_to_json(&again);
	printed = yaml_print(json);
	ASSERT_STR(printed, text);
	assert_words(&chosen, "network.subnet 192.168.39.0/24 network.apiPort 16443 "
			      "staticIP of main 192.168.39.2");
}

/* The whole of kind's file, as people write it. */
TEST(a_file_of_kinds_is_understood)
{
	static const char text[] = KIND
		"name: app\n"
		"networking:\n"
		"  apiServerAddress: \"127.0.0.1\"\n"
		"  apiServerPort: 6443\n"
		"  podSubnet: \"10.244.0.0/16\"\n"
		"  serviceSubnet: \"10.96.0.0/12\"\n"
		"  disableDefaultCNI: true\n"
		"  kubeProxyMode: \"none\"\n"
		"featureGates:\n"
		"  \"CSIMigration\": true\n"
		"runtimeConfig:\n"
		"  \"api/alpha\": \"false\"\n"
		"  \"batch/v1\": \"true\"\n"
		"kubeadmConfigPatches:\n"
		"- |\n"
		"  apiVersion: kubelet.config.k8s.io/v1beta1\n"
		"  kind: KubeletConfiguration\n"
		"  evictionHard:\n"
		"    nodefs.available: \"0%\"\n"
		"kubeadmConfigPatchesJSON6902:\n"
		"- group: kubeadm.k8s.io\n"
		"  version: v1beta3\n"
		"  kind: ClusterConfiguration\n"
		"  patch: |\n"
		"    - op: add\n"
		"      path: /apiServer/certSANs/-\n"
		"      value: my-hostname\n"
		"containerdConfigPatches:\n"
		"- |-\n"
		"  [plugins.\"io.containerd.grpc.v1.cri\".registry]\n"
		"    config_path = \"/etc/containerd/certs.d\"\n"
		"  [plugins.\"io.containerd.grpc.v1.cri\".registry.mirrors.\"localhost:5000\"]\n"
		"    endpoint = [\"http://registry:5000\", \"http://other:5000\"]\n"
		"nodes:\n"
		"- role: control-plane\n"
		"  image: kindest/node:v1.36.3@sha256:0123\n"
		"  kubeadmConfigPatches:\n"
		"  - |\n"
		"    kind: InitConfiguration\n"
		"    nodeRegistration:\n"
		"      kubeletExtraArgs:\n"
		"        node-labels: \"ingress-ready=true\"\n"
		"  extraPortMappings:\n"
		"  - containerPort: 80\n"
		"    hostPort: 8080\n"
		"    listenAddress: \"127.0.0.1\"\n"
		"    protocol: TCP\n"
		"- role: worker\n"
		"  labels:\n"
		"    tier: frontend\n"
		"  extraMounts:\n"
		"  - hostPath: /usr/share\n"
		"    containerPath: /files\n"
		"    readOnly: true\n"
		"    selinuxRelabel: false\n"
		"    propagation: None\n"
		"- role: worker\n"
		"  image: kindest/node:v1.35.4\n"
		"  extraPortMappings:\n"
		"  - containerPort: 80\n"
		"    hostPort: 8081\n";
	cleanup_with(cluster_file_release) struct cluster_file file = CLUSTER_FILE_INIT;
	const struct cluster_options *options = &file.options;

	read_text(text, &file);
	assert_words(&file.warnings, "");
	ASSERT_STR(file.name, "app");
	ASSERT_INT(options->api_port, 6443);
	ASSERT_STR(options->pod_subnet, "10.244.0.0/16");
	ASSERT_STR(options->cni, "none");
	ASSERT_STR(options->kubernetes_version, "v1.36.3");
	assert_words(&options->feature_gates, "CSIMigration=true");
	assert_words(&options->extra_config,
		     "kubeadm.proxy.disabled=true "
		     "apiserver.runtime-config=api/alpha=false,batch/v1=true");
	assert_words(&options->kubeadm_patches,
		     "{\"kind\":\"KubeletConfiguration\",\"merge\":{\"evictionHard\":"
		     "{\"nodefs.available\":\"0%\"}}} "
		     "{\"kind\":\"ClusterConfiguration\",\"operations\":[{\"op\":\"add\","
		     "\"path\":\"/apiServer/certSANs/-\",\"value\":\"my-hostname\"}]}");
	assert_words(&options->registry_mirrors,
		     "localhost:5000=http://registry:5000 localhost:5000=http://other:5000");
	assert_words(&options->ports,
		     "127.0.0.1:8080:80@app-control-plane 0.0.0.0:8081:80@app-worker2");
	ASSERT_INT(file.node_count, 3);
	ASSERT_STR(file.nodes[0].name, "app-control-plane");
	ASSERT(file.nodes[0].control_plane && file.nodes[0].no_schedule);
	assert_words(&file.nodes[0].kubeadm_patches,
		     "{\"kind\":\"InitConfiguration\",\"merge\":{\"nodeRegistration\":"
		     "{\"kubeletExtraArgs\":{\"node-labels\":\"ingress-ready=true\"}}}}");
	ASSERT_STR(file.nodes[1].name, "app-worker");
	assert_words(&file.nodes[1].labels, "tier=frontend");
	assert_words(&file.nodes[1].mounts, "/usr/share:/files:ro");
	ASSERT(!file.nodes[1].kubernetes_version);
	ASSERT_STR(file.nodes[2].name, "app-worker2");
	ASSERT_STR(file.nodes[2].kubernetes_version, "v1.35.4");
	assert_lasting(&file);
}

TEST(the_shortest_file_of_kinds_is_one_node_for_everything)
{
	cleanup_with(cluster_file_release) struct cluster_file file = CLUSTER_FILE_INIT;

	read_text(KIND, &file);
	ASSERT_INT(file.node_count, 1);
	ASSERT_STR(file.nodes[0].name, "usual-control-plane");
	ASSERT(file.nodes[0].control_plane && !file.nodes[0].no_schedule);
}

TEST(what_of_kinds_can_not_be_had_is_named)
{
	static const struct {
		const char *text;
		const char *why;
	} told[] = {
		{ "networking: {kubeProxyMode: ipvs}\n", "f.yaml:3:29: kube-proxy uses nftables" },
		{ "networking: {apiServerAddress: 0.0.0.0}\n",
		  "the API listens on 127.0.0.1 only" },
		{ "networking: {dnsSearch: [a]}\n", "'dnsSearch' is ignored" },
		{ "nodes: [{image: my/image}]\n", "'my/image' names no Kubernetes version" },
		{ "nodes: [{image: 'kindest/node:v1.36.1'}]\n", "v1.36.3 instead of v1.36.1" },
		{ "nodes: [{gpus: all}]\n", "no GPUs" },
		{ "nodes: [{extraMounts: [{hostPath: /usr, containerPath: /u, readOnly: true, propagation: "
		  "Bidirectional}]}]\n",
		  "mount propagation is not" },
		{ "nodes: [{extraPortMappings: [{containerPort: 53, hostPort: 53, protocol: "
		  "UDP}]}]\n",
		  "this UDP mapping is ignored" },
		{ "nodes: [{extraPortMappings: [{containerPort: 53}]}]\n", "no 'hostPort'" },
		{ "kubeadmConfigPatches: ['{kind: Pod, a: b}']\n", "kubeadm has no 'Pod'" },
		{ "kubeadmConfigPatches: ['{kind: ClusterConfiguration, controlPlaneEndpoint: "
		  "x}']\n",
		  "controlPlaneEndpoint of ClusterConfiguration is set by manykube" },
		{ "nodes: [{kubeadmConfigPatches: ['{kind: JoinConfiguration, a: b}']}]\n",
		  "JoinConfiguration does not apply to this node" },
		{ "containerdConfigPatches: ['version = 3']\n", "'version = 3' is ignored" },
		{ "containerdConfigPatchesJSON6902: ['[]']\n", "is ignored" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(told); i++) {
		cleanup_with(cluster_file_release) struct cluster_file file = CLUSTER_FILE_INIT;
		cleanup_free char *text = xasprintf("%s%s", KIND, told[i].text);

		read_text(text, &file);
		ASSERT_INT(file.warnings.count, 1);
		if (!strstr(file.warnings.items[0], told[i].why))
			ASSERT_STR(file.warnings.items[0], told[i].why);
		ASSERT_INT(strncmp(file.warnings.items[0], "f.yaml:3:", 9), 0);
	}
}

TEST(a_version_that_was_given_is_stronger_than_kinds_images)
{
	static const struct cluster_file_before before = { .usual_name = "usual",
							   .has_version = true };
	static const char text[] = KIND "nodes: [{image: 'kindest/node:v1.2.3'}]\n";
	cleanup_with(cluster_file_release) struct cluster_file file = CLUSTER_FILE_INIT;

	ASSERT_OK(cluster_file_parse("f.yaml", text, strlen(text), &before, &file, &err));
	ASSERT(!file.options.kubernetes_version && !file.nodes[0].kubernetes_version);
	ASSERT_INT(file.warnings.count, 0);
}

TEST(clusters_of_kinds_can_have_both_families)
{
	static const struct cluster_file_before before = { .usual_name = "usual" };
	static const char text[] = KIND "networking:\n"
					"  ipFamily: dual\n"
					"  podSubnet: 10.244.0.0/16,fd00:10:244::/56\n";
	cleanup_with(cluster_file_release) struct cluster_file file = CLUSTER_FILE_INIT;

	ASSERT_OK(cluster_file_parse("f.yaml", text, strlen(text), &before, &file, &err));
	ASSERT_STR(file.options.ip_family, "dual");
	ASSERT(strlist_has(&file.given, "ip-family"));
	ASSERT_STR(file.options.pod_subnet, "10.244.0.0/16");
	ASSERT_INT(file.warnings.count, 1);
	ASSERT(strstr(file.warnings.items[0], "'fd00:10:244::/56' is ignored"));
}

TEST(files_of_kinds_can_be_wrong_too)
{
	static const struct {
		const char *text;
		const char *why;
	} wrong[] = {
		{ "nodse: []\n", "f.yaml:3:1: a cluster of kind has no field 'nodse'; did you mean "
				 "'nodes'?" },
		{ "networking: {ipFamily: ipv6}\n", "f.yaml:3:24: ipFamily can be 'ipv4' or "
						    "'dual', not 'ipv6'" },
		{ "networking: {apiServerPort: 99999}\n", "must be a port" },
		{ "networking: {podSubnet: x}\n", "f.yaml:3:25: podSubnet: " },
		{ "networking: {kubeProxyMode: magic}\n", "unknown kubeProxyMode 'magic'" },
		{ "networking: []\n", "networking must be a mapping" },
		{ "nodes: [worker]\n", "a node must be a mapping" },
		{ "nodes: [{role: worker}]\n", "no node is a control plane" },
		{ "nodes: [{role: boss}]\n", "unknown role 'boss'" },
		{ "nodes: [{image: 'kindest/node:v1.2.3'}]\n",
		  "image: Kubernetes version 'v1.2.3'" },
		{ "nodes: [{extraMounts: [{hostPath: /usr}]}]\n", "no 'containerPath'" },
		{ "nodes: [{extraMounts: [{hostPath: /usr, containerPath: /etc}]}]\n",
		  "a node needs its own" },
		{ "nodes: [{extraPortMappings: [{hostPort: 1}]}]\n", "no 'containerPort'" },
		{ "nodes: [{labels: {a: [b]}}]\n", "a label must be a string" },
		{ "kubeadmConfigPatches: ['{']\n", "f.yaml:3:24: in this: text:2:1: " },
		{ "kubeadmConfigPatches: ['a: b']\n", "a mapping with a 'kind'" },
		{ "kubeadmConfigPatches: [{kind: x}]\n", "a patch must be a string" },
		{ "kubeadmConfigPatchesJSON6902: [{kind: ClusterConfiguration, patch: 'a'}]\n",
		  "not a list of operations" },
		{ "featureGates: {a: 1}\n", "must be true or false" },
		{ "containerdConfigPatches: [[]]\n", "a patch must be a string" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		cleanup_free char *text = xasprintf("%s%s", KIND, wrong[i].text);

		assert_refused(text, wrong[i].why);
	}
}
