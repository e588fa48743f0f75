#include "base/file.h"
#include "describe/import.h"

#include "fake-world.h"
#include "plan/register.h"
#include "record/limits.h"
#include "test.h"

#define KUBERNETES "\"KubernetesConfig\": {\"KubernetesVersion\": \"v1.36.3\"}"
#define PRIMARY \
	"{\"Name\": \"\", \"IP\": \"192.168.49.2\", \"ControlPlane\": true, \"Worker\": true}"
#define WORKER "{\"Name\": \"m02\", \"IP\": \"192.168.49.3\", \"Worker\": true}"

/* A config.json that also has FIELDS, as far as it is read. */
static void read_with(const char *fields, struct import *ret)
{
	cleanup_free char *text = xasprintf("{\"Name\": \"demo\", %s}", fields);

	ASSERT_OK(import_parse(text, strlen(text), ret, &err));
}

static bool warns(const struct import *import, const char *words)
{
	const char *warning;

	strlist_for_each(warning, &import->warnings)
		if (strstr(warning, words))
			return true;
	return false;
}

TEST(what_minikube_writes_by_itself_needs_no_warning)
{
	cleanup_with(import_release) struct import import = IMPORT_INIT;
	cleanup_free char *defaults = NULL;

	read_with(
		"\"Memory\": 3072, \"CPUs\": 2, \"DiskSize\": 20000, \"APIServerPort\": 8443, "
		"\"KicBaseImage\": \"kicbase:v1\", \"DockerEnv\": null, \"HostDNSResolver\": true, "
		"\"Addons\": {\"storage-provisioner\": true, \"ingress\": false}, "
		"\"Mount\": false, \"MountString\": \"/home:/minikube-host\", "
		"\"VerifyComponents\": {\"system_pods\": true, \"apiserver\": true}, "
		"\"CertExpiration\": 94608000000000000, " KUBERNETES ", \"Nodes\": [" PRIMARY
		", {\"Name\": \"m02\", \"IP\": \"192.168.49.3\", \"Port\": 8443, \"Worker\": true}]",
		&import);
	ASSERT_INT(import.warnings.count, 0);
	/* But nothing is dropped in silence. */
	defaults = strlist_join(&import.defaults, ", ");
	ASSERT_STR(defaults,
		   "DiskSize 20000, APIServerPort 8443, KicBaseImage \"kicbase:v1\", "
		   "HostDNSResolver true, MountString \"/home:/minikube-host\", VerifyComponents "
		   "{\"system_pods\":true,\"apiserver\":true}, Port 8443");
	ASSERT_STR(import.name, "demo");
	ASSERT_INT(import.options.memory_bytes, 3072ll << 20);
	ASSERT_INT(import.options.cpus, 2);
	ASSERT_INT(import.options.disk_bytes, 0);
	ASSERT_INT(import.options.api_port, 0);
	ASSERT_INT(import.options.cert_seconds, 94608000);
	ASSERT_INT(import.options.mounts.count, 0);
	ASSERT_INT(import.node_count, 2);
	ASSERT_STR(import.nodes[0].name, "node-1");
	ASSERT_STR(import.nodes[1].name, "m02");
	ASSERT_STR(import.nodes[1].address, "192.168.49.3");
}

TEST(settings_are_taken_over)
{
	cleanup_with(import_release) struct import import = IMPORT_INIT;

	read_with(
		"\"DiskSize\": 40000, \"EmbedCerts\": true, \"KeepContext\": true, \"APIServerPort\": 9443, "
		"\"InsecureRegistry\": [\"registry.local:5000\"], "
		"\"RegistryMirror\": [\"https://mirror.local\"], \"ExposedPorts\": "
		"[\"8080:80\"], \"MountString\": \"/data:/mnt\", "
		"\"KubernetesConfig\": {\"ServiceCIDR\": \"10.97.0.0/16\", \"DNSDomain\": "
		"\"local\", \"FeatureGates\": \"A=true,B=false\", \"CNI\": \"false\", "
		"\"ImageRepository\": \"registry.local/k8s\", \"APIServerNames\": [\"api\"], "
		"\"APIServerIPs\": [\"10.0.0.1\"], \"ExtraOptions\": [{\"Component\": "
		"\"kubelet\", \"Key\": \"max-pods\", \"Value\": \"55\"}, {\"Component\": "
		"\"kubeadm\", \"Key\": \"pod-network-cidr\", \"Value\": \"10.250.0.0/16\"}]}",
		&import);
	ASSERT_INT(import.warnings.count, 0);
	ASSERT(import.options.embed_certs && import.options.given.embed_certs);
	ASSERT(import.options.keep_context && import.options.given.keep_context);
	ASSERT_INT(import.options.api_port, 9443);
	ASSERT_INT(import.options.disk_bytes, 40000ll << 20);
	ASSERT(strlist_has(&import.options.insecure_registries, "registry.local:5000"));
	ASSERT(strlist_has(&import.options.registry_mirrors, "https://mirror.local"));
	ASSERT(strlist_has(&import.options.ports, "8080:80"));
	ASSERT(strlist_has(&import.options.mounts, "/data:/mnt"));
	ASSERT_STR(import.options.service_subnet, "10.97.0.0/16");
	ASSERT_STR(import.options.pod_subnet, "10.250.0.0/16");
	ASSERT_STR(import.options.dns_domain, "local");
	ASSERT_STR(import.options.cni, "none");
	ASSERT_STR(import.options.image_repository, "registry.local/k8s");
	ASSERT_INT(import.options.feature_gates.count, 2);
	ASSERT(strlist_has(&import.options.api_names, "api"));
	ASSERT(strlist_has(&import.options.api_ips, "10.0.0.1"));
	ASSERT(strlist_has(&import.options.extra_config, "kubelet.max-pods=55"));
}

TEST(what_is_left_out_is_named)
{
	cleanup_with(import_release) struct import import = IMPORT_INIT;

	read_with(
		"\"Driver\": \"kvm2\", \"DiskSize\": 1000, \"Memory\": 512, \"StaticIP\": "
		"\"192.168.49.9\", \"Glitter\": [1, 2], \"Addons\": {\"ingress\": true}, "
		"\"ExposedPorts\": [\"80\"], \"CertExpiration\": 5, \"Nodes\": [{\"ControlPlane\": true, \"Worker\": true, "
		"\"Port\": 9443, \"Zone\": \"a\"}], "
		"\"InsecureRegistry\": [\"10.96.0.0/12\"], "
		"\"KubernetesConfig\": {\"CNI\": \"calico\", \"ContainerRuntime\": \"docker\", "
		"\"FeatureGates\": \"Foo\", \"ServiceCIDR\": \"fd00::/64\", "
		"\"ExtraOptions\": [{\"Component\": \"moon\", \"Key\": \"a\", \"Value\": "
		"\"b\"}]}",
		&import);
	ASSERT(warns(&import, "Driver \"kvm2\" is ignored: "));
	ASSERT(warns(&import,
		     "DiskSize 1000 is ignored: --disk-size: a node needs at least 2 GiB"));
	ASSERT(warns(&import, "Memory 512 is ignored: "));
	ASSERT(warns(&import, "StaticIP \"192.168.49.9\" is ignored: "));
	ASSERT(warns(&import, "\"Glitter\" [1,2] is ignored: not supported"));
	ASSERT(warns(&import, "Addons \"ingress\" is ignored: "));
	ASSERT(warns(&import, "ExposedPorts \"80\" is ignored: "));
	ASSERT(warns(&import, "CertExpiration 5 is ignored: "));
	ASSERT(warns(&import, "Port 9443 is ignored: "));
	ASSERT(warns(&import, "\"Zone\" \"a\" is ignored: not supported"));
	ASSERT(warns(&import, "InsecureRegistry \"10.96.0.0/12\" is ignored: "));
	ASSERT(warns(&import, "CNI \"calico\" is ignored: "));
	ASSERT(warns(&import, "ContainerRuntime \"docker\" is ignored: "));
	ASSERT(warns(&import, "FeatureGates \"Foo\" is ignored: "));
	ASSERT(warns(&import, "ServiceCIDR \"fd00::/64\" is ignored: "));
	ASSERT(warns(&import, "ExtraOptions {"));
	ASSERT_INT(import.warnings.count, 16);
	ASSERT(!import.options.service_subnet);
	ASSERT_INT(import.options.memory_bytes, 0);
}

TEST(the_first_control_plane_is_the_primary)
{
	cleanup_with(import_release) struct import import = IMPORT_INIT;

	read_with(KUBERNETES ", \"Nodes\": [{\"Name\": \"M_1\"}, {\"Name\": \"node-1\"}, "
			     "{\"ControlPlane\": true, "
			     "\"Worker\": true}, {\"Name\": \"m04\", \"ControlPlane\": true}]",
		  &import);
	ASSERT_INT(import.node_count, 4);
	ASSERT_STR(import.nodes[0].name, "node-2");
	ASSERT_STR(import.nodes[1].name, "node-3");
	ASSERT_STR(import.nodes[2].name, "node-1");
	ASSERT_STR(import.nodes[3].name, "m04");
	ASSERT(warns(&import, "node \"M_1\" is renamed to 'node-3'"));
	ASSERT_INT(import.warnings.count, 1);
	for (size_t i = 0; i < import.node_count; i++)
		ASSERT_INT(import.nodes[i].control_plane, i == 0 || i == 3);
	ASSERT(import.nodes[0].worker && import.nodes[1].worker && !import.nodes[3].worker);
}

TEST(a_control_plane_that_ran_no_pods_runs_some_if_nobody_else_does)
{
	cleanup_with(import_release) struct import import = IMPORT_INIT;

	read_with(KUBERNETES ", \"Nodes\": [{\"ControlPlane\": true}, {\"Name\": \"m02\", "
			     "\"ControlPlane\": true}]",
		  &import);
	ASSERT(import.nodes[0].worker && !import.nodes[1].worker);
	ASSERT(warns(&import, "node 'node-1' was only a control plane"));
	ASSERT_INT(import.warnings.count, 1);
}

TEST(more_control_planes_than_there_can_be_become_workers)
{
	cleanup_with(import_release) struct import import = IMPORT_INIT;
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;

	strbuf_add(&text, KUBERNETES ", \"Nodes\": [{\"ControlPlane\": true, \"Worker\": true}");
	for (int i = 2; i <= 8; i++)
		strbuf_addf(&text, ", {\"Name\": \"m0%d\", \"ControlPlane\": true}", i);
	strbuf_add(&text, "]");
	read_with(text.text, &import);
	ASSERT(import.nodes[6].control_plane);
	ASSERT(!import.nodes[7].control_plane && import.nodes[7].worker);
	ASSERT(warns(&import, "node 'm08' was a control plane and becomes a worker"));
	ASSERT_INT(import.warnings.count, 1);
}

TEST(a_config_from_before_minikube_had_nodes_has_one)
{
	cleanup_with(import_release) struct import import = IMPORT_INIT;

	read_with("\"KubernetesConfig\": {\"NodeName\": \"main\", \"NodeIP\": \"192.168.39.7\"}",
		  &import);
	ASSERT_INT(import.node_count, 1);
	ASSERT_STR(import.nodes[0].name, "main");
	ASSERT_STR(import.nodes[0].address, "192.168.39.7");
}

TEST(what_is_wrong_is_said)
{
	static const struct {
		const char *text;
		const char *words;
	} bad[] = {
		{ "", "line 1, column 0: " },
		{ "{\"Name\":\n nonsense}", "line 2, column 9: " },
		{ "[]", "not a config.json of minikube" },
		{ "{\"Name\": \"x\"}", "not a config.json of minikube" },
		{ "{\"Name\": 5, " KUBERNETES "}", "'Name' is not a string" },
		{ "{\"Name\": \"x\", \"Memory\": \"2g\", " KUBERNETES "}",
		  "'Memory' is not a whole number" },
		{ "{\"Name\": \"x\", \"Memory\": -5, " KUBERNETES "}",
		  "'Memory' is not in the range of such a number" },
		{ "{\"Name\": \"x\", \"KubernetesConfig\": {\"DNSDomain\": 5}}",
		  "KubernetesConfig: 'DNSDomain' is not a string" },
		{ "{\"Name\": \"x\", \"Nodes\": {\"a\": 1}, " KUBERNETES "}",
		  "'Nodes' is not a list" },
		{ "{\"Name\": \"x\", \"Nodes\": [" PRIMARY ", {\"Name\": 2}], " KUBERNETES "}",
		  "Nodes[1]: 'Name' is not a string" },
		{ "{\"Name\": \"x\", \"Nodes\": [" WORKER "], " KUBERNETES "}",
		  "no node of 'Nodes' is a control plane" },
		{ "{\"Name\": \"x\", \"Nodes\": [" PRIMARY ", " WORKER ", " WORKER "], " KUBERNETES
		  "}",
		  "there are two nodes called 'm02'" },
		{ "{\"Name\": \"x\\u001b[2J\", " KUBERNETES "}", "control characters" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		cleanup_with(import_release) struct import import = IMPORT_INIT;
		cleanup_with(error_clear) struct error why = ERROR_INIT;

		ASSERT_INT(import_parse(bad[i].text, strlen(bad[i].text), &import, &why), -EBADMSG);
		if (!strstr(why.text, bad[i].words))
			ASSERT_STR(why.text, bad[i].words);
		ASSERT(why.reason == &reason_host_config);
	}
}

TEST(nul_bytes_are_refused)
{
	cleanup_with(import_release) struct import import = IMPORT_INIT;
	static const char text[] = "{\"Name\": \"a\0b\", " KUBERNETES "}";

	ASSERT_INT(import_parse(text, sizeof(text) - 1, &import, NULL), -EBADMSG);
}

TEST(another_patch_of_the_version_will_do)
{
	cleanup_with(import_release) struct import import = IMPORT_INIT;
	cleanup_with(error_clear) struct error why = ERROR_INIT;

	read_with(KUBERNETES, &import);
	ASSERT_OK(import_choose_version(&import, NULL, &err));
	ASSERT_STR(import.options.kubernetes_version, "v1.36.3");
	ASSERT_INT(import.warnings.count, 0);
	import.kubernetes_version = "v1.36.99";
	ASSERT_OK(import_choose_version(&import, NULL, &err));
	ASSERT_STR(import.options.kubernetes_version, "v1.36.3");
	ASSERT(warns(&import, "Kubernetes will be v1.36.3 instead of \"v1.36.99\""));
	import.kubernetes_version = "v1.2.3";
	ASSERT_INT(import_choose_version(&import, NULL, &why), -EINVAL);
	ASSERT(why.reason == &reason_version_unsupported);
	ASSERT(strstr(why.text, "v1.36.3"));
	ASSERT_STR(why.hint, "choose one with --kubernetes-version");
	ASSERT_OK(import_choose_version(&import, "v1.36", &err));
	ASSERT_STR(import.options.kubernetes_version, "v1.36.3");
}

TEST(an_older_minor_has_its_own_patch)
{
	cleanup_with(import_release) struct import import = IMPORT_INIT;

	read_with("\"KubernetesConfig\": {\"KubernetesVersion\": \"v1.35.1\"}", &import);
	ASSERT_OK(import_choose_version(&import, NULL, &err));
	ASSERT_STR(import.options.kubernetes_version, "v1.35.4");
	ASSERT(warns(&import, "Kubernetes will be v1.35.4 instead of \"v1.35.1\""));
}

#define NODE_OF(name, version) \
	"{\"Name\": \"" name "\", \"KubernetesVersion\": \"" version "\", \"Worker\": true}"

TEST(nodes_keep_versions_of_their_own_where_they_can)
{
	cleanup_with(import_release) struct import import = IMPORT_INIT;
	cleanup_with(profile_release) struct profile made = PROFILE_INIT;
	cleanup_free char *dir = xasprintf("%s/world", test_dir());

	ASSERT_INT(setenv("MANYKUBE_HOME", test_dir(), 1), 0);
	fake_world_use(dir, 0);
	read_with(
		KUBERNETES
		", \"Nodes\": [{\"Name\": \"main\", \"KubernetesVersion\": "
		"\"v1.35.4\", \"ControlPlane\": true, \"Worker\": true}, " NODE_OF("same", "v1.36.3") ", " NODE_OF(
			"old", "v1.35.4") ", " NODE_OF("patch",
						       "v1.35.1") ", " NODE_OF("ancient",
									       "v1.20.0") "]",
		&import);
	ASSERT_OK(import_choose_version(&import, NULL, &err));
	ASSERT_INT(import.warnings.count, 3);
	ASSERT(warns(&import, "node 'main' had Kubernetes \"v1.35.4\"; here it has "
			      "v1.36.3"));
	ASSERT(warns(&import, "node 'patch' had Kubernetes \"v1.35.1\"; here it has "
			      "v1.35.4"));
	ASSERT(warns(&import, "node 'ancient' had Kubernetes \"v1.20.0\"; here it has "
			      "v1.36.3"));
	ASSERT_OK(import_register(&import, "demo", &made, &err));
	ASSERT_STR(made.nodes[0].kubernetes_version, "v1.36.3");
	ASSERT_STR(made.nodes[1].kubernetes_version, "v1.36.3");
	ASSERT_STR(made.nodes[2].kubernetes_version, "v1.35.4");
	ASSERT_STR(made.nodes[3].kubernetes_version, "v1.35.4");
	ASSERT_STR(made.nodes[4].kubernetes_version, "v1.36.3");
}

TEST(all_control_planes_are_registered_as_such)
{
	cleanup_with(import_release) struct import import = IMPORT_INIT;
	cleanup_with(profile_release) struct profile made = PROFILE_INIT;
	cleanup_free char *dir = xasprintf("%s/world", test_dir());

	ASSERT_INT(setenv("MANYKUBE_HOME", test_dir(), 1), 0);
	fake_world_use(dir, 0);
	/* As 'minikube start --ha -n 4' writes it. */
	read_with(KUBERNETES ", \"APIServerHAVIP\": \"192.168.49.254\", \"Nodes\": ["
			     "{\"Name\": \"\", \"ControlPlane\": true}, "
			     "{\"Name\": \"m02\", \"ControlPlane\": true, \"Worker\": true}, "
			     "{\"Name\": \"m03\", \"ControlPlane\": true, \"Worker\": true}, "
			     "{\"Name\": \"m04\", \"ControlPlane\": false, \"Worker\": true}]",
		  &import);
	ASSERT_OK(import_choose_version(&import, NULL, &err));
	ASSERT_OK(import_register(&import, "ha", &made, &err));
	ASSERT_INT(made.node_count, 4);
	ASSERT_INT(profile_control_planes(&made), 3);
	ASSERT_STR(profile_primary(&made)->name, "node-1");
	ASSERT(!made.nodes[0].worker && strlist_has(&made.nodes[0].taints, CONTROL_PLANE_TAINT));
	ASSERT(made.nodes[1].control_plane && made.nodes[1].worker && !made.nodes[1].primary);
	ASSERT(!made.nodes[3].control_plane);
}

TEST(a_registered_cluster_has_the_nodes_and_is_not_replaced)
{
	cleanup_with(import_release) struct import import = IMPORT_INIT;
	cleanup_with(profile_release) struct profile made = PROFILE_INIT;
	cleanup_with(profile_release) struct profile loaded = PROFILE_INIT;
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	cleanup_free char *dir = xasprintf("%s/world", test_dir());

	ASSERT_INT(setenv("MANYKUBE_HOME", test_dir(), 1), 0);
	fake_world_use(dir, 0);
	read_with(KUBERNETES ", \"ContainerVolumeMounts\": [\"/:/host:ro\", \"/none/such:/x\"], "
			     "\"Nodes\": [{\"Name\": \"main\", \"IP\": \"192.168.49.2\", "
			     "\"ControlPlane\": true, \"Worker\": true}, " WORKER "]",
		  &import);
	ASSERT_OK(import_choose_version(&import, NULL, &err));
	ASSERT_OK(import_register(&import, "demo", &made, &err));
	ASSERT_OK(profile_load("demo", &loaded, &err));
	ASSERT_INT(loaded.node_count, 2);
	ASSERT_STR(profile_primary(&loaded)->name, "main");
	ASSERT_STR(loaded.nodes[1].name, "m02");
	ASSERT(!loaded.nodes[1].control_plane);
	ASSERT_INT(loaded.nodes[1].phase, NODE_PLANNED);
	ASSERT_INT(loaded.nodes[1].mounts.count, 1);
	ASSERT(warns(&import, "the mount '/none/such:/x' is left out"));
	ASSERT(warns(&import, "nodes have new addresses: main "));
	ASSERT_INT(import_register(&import, "demo", &made, &why), -EEXIST);
	ASSERT_STR(why.text, "cluster 'demo' already exists");
	ASSERT(why.reason == &reason_usage);
}
