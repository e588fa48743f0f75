#include <ctype.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/process.h"
#include "kubeadm/kubeadm-patch.h"
#include "kubeadm/kubeadm.h"
#include "test.h"

static struct node node = {
	.name = "node-1",
	.address = "192.168.39.2",
	.pod_cidr = "10.244.0.0/24",
	.control_plane = true,
	.primary = true,
};

static const struct profile profile = {
	.name = "dev",
	.kubernetes_version = "v1.36.3",
	.gateway = "192.168.39.1",
	.pod_subnet = "10.244.0.0/16",
	.service_subnet = "10.96.0.0/12",
	.dns_domain = "cluster.local",
	.nodes = &node,
	.node_count = 1,
};

static void assert_has(const char *text, const char *part)
{
	if (!strstr(text, part))
		test_fail(__FILE__, __LINE__, "'%s' is not in:\n%s", part, text);
}

/* The document of KIND in TEXT. */
static json_t *document(const char *text, const char *kind)
{
	const char *p = text;

	while (p) {
		json_t *object = json_loads(p, JSON_DISABLE_EOF_CHECK, NULL);

		ASSERT(object);
		if (strcmp(json_string_value(json_object_get(object, "kind")), kind) == 0)
			return object;
		json_decref(object);
		p = strstr(p, "\n---\n");
		p = p ? p + 5 : NULL;
	}
	test_fail(__FILE__, __LINE__, "there is no %s in:\n%s", kind, text);
}

/* What the dotted PATH leads to in OBJECT, as JSON; numbers are places in lists. */
static const char *at(const json_t *object, const char *path)
{
	static char text[4096];
	cleanup_with(strlist_release) struct strlist parts = STRLIST_INIT;
	const char *part;
	char *dump;

	strlist_split(&parts, path, '.');
	strlist_for_each(part, &parts)
		object = isdigit((unsigned char)*part) ? json_array_get(object, (size_t)atoi(part))
						       : json_object_get(object, part);
	dump = object ? json_dumps(object, JSON_ENCODE_ANY | JSON_COMPACT) : xstrdup("nothing");
	(void)snprintf(text, sizeof(text), "%s", dump);
	free(dump);
	return text;
}

static json_t *init(const struct profile *of, const char *kind)
{
	cleanup_free char *text = kubeadm_init_config(of, &node, "abcdef.0123456789abcdef");

	return document(text, kind);
}

/* The profile with one word of extra configuration, which must outlive it. */
static struct profile with_extra(char *const *word)
{
	struct profile changed = profile;

	changed.extra_config = (struct strlist){ .items = (char **)(uintptr_t)word, .count = 1 };
	return changed;
}

TEST(the_control_plane_is_behind_a_name_from_the_beginning)
{
	json_auto_t *cluster = init(&profile, "ClusterConfiguration");
	json_auto_t *own = init(&profile, "InitConfiguration");

	ASSERT_STR(at(cluster, "controlPlaneEndpoint"), "\"front-door.manykube.internal:6443\"");
	assert_has(at(cluster, "apiServer.certSANs"), "\"127.0.0.1\"");
	assert_has(at(cluster, "apiServer.certSANs"), "\"192.168.39.1\"");
	ASSERT_STR(at(own, "localAPIEndpoint.advertiseAddress"), "\"192.168.39.2\"");
}

TEST(of_both_families_ipv4_comes_first)
{
	struct profile dual = profile;
	json_auto_t *cluster = NULL;
	json_auto_t *own = NULL;

	dual.ipv6_prefix = "fd12:3456:789a::/48";
	node.address6 = "fd12:3456:789a::2";
	cluster = init(&dual, "ClusterConfiguration");
	own = init(&dual, "InitConfiguration");
	ASSERT_STR(at(cluster, "networking"),
		   "{\"podSubnet\":\"10.244.0.0/16,fd12:3456:789a:100::/56\","
		   "\"serviceSubnet\":\"10.96.0.0/12,fd12:3456:789a:ffff::/112\","
		   "\"dnsDomain\":\"cluster.local\"}");
	ASSERT_STR(at(own, "nodeRegistration.kubeletExtraArgs.0"),
		   "{\"name\":\"node-ip\",\"value\":\"192.168.39.2,fd12:3456:789a::2\"}");
	ASSERT_STR(at(own, "localAPIEndpoint.advertiseAddress"), "\"192.168.39.2\"");
}

TEST(join_tokens_live_for_minutes)
{
	json_auto_t *own = init(&profile, "InitConfiguration");

	ASSERT_STR(at(own, "bootstrapTokens.0"),
		   "{\"token\":\"abcdef.0123456789abcdef\",\"ttl\":\"15m0s\"}");
}

TEST(pods_may_run_on_every_node)
{
	cleanup_free char *text = kubeadm_join_config(&profile, &node, "abcdef.0123456789abcdef",
						      "/etc/manykube/discovery.conf");
	json_auto_t *join = document(text, "JoinConfiguration");

	ASSERT_STR(at(join, "nodeRegistration.taints"), "[]");
	ASSERT_STR(at(join, "discovery.file.kubeConfigPath"), "\"/etc/manykube/discovery.conf\"");
}

/* What every API server is told. */
#define OWN_ARGUMENTS                                              \
	"{\"name\":\"shutdown-delay-duration\",\"value\":\"2s\"}," \
	"{\"name\":\"shutdown-watch-termination-grace-period\",\"value\":\"1s\"}"

TEST(extra_arguments_reach_their_component_and_replace_ours)
{
	struct profile apiserver = with_extra(ARGV("apiserver.v=3"));
	struct profile manager = with_extra(ARGV("controller-manager.kube-api-qps=7"));
	struct profile etcd = with_extra(ARGV("etcd.quota-backend-bytes=5"));
	json_auto_t *one = init(&apiserver, "ClusterConfiguration");
	json_auto_t *two = init(&manager, "ClusterConfiguration");
	json_auto_t *three = init(&etcd, "ClusterConfiguration");

	ASSERT_STR(at(one, "apiServer.extraArgs"),
		   "[{\"name\":\"v\",\"value\":\"3\"}," OWN_ARGUMENTS "]");
	ASSERT_STR(at(one, "etcd"), "nothing");
	assert_has(at(two, "controllerManager.extraArgs"),
		   "{\"name\":\"kube-api-qps\",\"value\":\"7\"}");
	ASSERT(!strstr(at(two, "controllerManager.extraArgs"), "\"300\""));
	assert_has(at(two, "controllerManager.extraArgs"), "allocate-node-cidrs");
	ASSERT_STR(at(three, "etcd.local.extraArgs.0.name"), "\"quota-backend-bytes\"");
}

TEST(a_kubelets_argument_and_a_field_of_its_configuration_go_to_different_places)
{
	struct profile argument = with_extra(ARGV("kubelet.max-pods=42"));
	struct profile field = with_extra(ARGV("kubelet.maxPods=42"));
	json_auto_t *one = init(&argument, "InitConfiguration");
	json_auto_t *two = init(&field, "KubeletConfiguration");
	json_auto_t *three = init(&field, "InitConfiguration");

	ASSERT_STR(at(one, "nodeRegistration.kubeletExtraArgs.1"),
		   "{\"name\":\"max-pods\",\"value\":\"42\"}");
	ASSERT_STR(at(two, "maxPods"), "42");
	ASSERT_STR(at(three, "nodeRegistration.kubeletExtraArgs"),
		   "[{\"name\":\"node-ip\",\"value\":\"192.168.39.2\"}]");
}

TEST(the_proxys_and_kubeadms_fields_are_set_by_their_paths)
{
	struct profile proxy = with_extra(ARGV("kube-proxy.conntrack.min=9"));
	struct profile dashed = with_extra(ARGV("proxy.bind-address=0.0.0.0"));
	struct profile kubeadm = with_extra(ARGV("kubeadm.encryptionAlgorithm=RSA-2048"));
	struct profile ignoring = with_extra(ARGV("kubeadm.ignore-preflight-errors=Swap,Mem"));
	json_auto_t *one = init(&proxy, "KubeProxyConfiguration");
	json_auto_t *two = init(&dashed, "KubeProxyConfiguration");
	json_auto_t *three = init(&kubeadm, "ClusterConfiguration");
	json_auto_t *four = init(&ignoring, "InitConfiguration");

	ASSERT_STR(at(one, "conntrack.min"), "9");
	ASSERT_STR(at(one, "conntrack.maxPerCore"), "0");
	ASSERT_STR(at(two, "bindAddress"), "\"0.0.0.0\"");
	ASSERT_STR(at(three, "encryptionAlgorithm"), "\"RSA-2048\"");
	ASSERT_STR(at(four, "nodeRegistration.ignorePreflightErrors"), "[\"Swap\",\"Mem\"]");
}

TEST(feature_gates_reach_all_parts)
{
	struct profile gated = profile;
	json_auto_t *cluster = NULL;
	json_auto_t *kubelet = NULL;
	json_auto_t *proxy = NULL;

	gated.feature_gates = (struct strlist){ ARGV("One=true", "Two=false"), 2 };
	cluster = init(&gated, "ClusterConfiguration");
	kubelet = init(&gated, "KubeletConfiguration");
	proxy = init(&gated, "KubeProxyConfiguration");
	assert_has(at(cluster, "apiServer.extraArgs"), "\"One=true,Two=false\"");
	assert_has(at(cluster, "controllerManager.extraArgs"), "\"One=true,Two=false\"");
	assert_has(at(cluster, "scheduler.extraArgs"), "\"One=true,Two=false\"");
	ASSERT_STR(at(kubelet, "featureGates"),
		   "{\"KubeletInUserNamespace\":true,\"One\":true,\"Two\":false}");
	ASSERT_STR(at(proxy, "featureGates"), "{\"One\":true,\"Two\":false}");
}

TEST(a_kubelet_takes_loaded_images_whatever_was_pulled)
{
	struct profile old = profile;
	struct profile without = profile;
	struct profile chosen = with_extra(
		ARGV("kubelet.imagePullCredentialsVerificationPolicy=AlwaysVerify"));
	const char *field = "imagePullCredentialsVerificationPolicy";
	json_auto_t *usual = NULL;
	json_auto_t *other = NULL;
	json_auto_t *none = NULL;
	json_auto_t *users = NULL;

	old.kubernetes_version = "v1.34.1";
	without.kubernetes_version = chosen.kubernetes_version = "v1.35.4";
	without.feature_gates = (struct strlist){ ARGV("KubeletEnsureSecretPulledImages=false"),
						  1 };
	usual = init(&profile, "KubeletConfiguration");
	other = init(&old, "KubeletConfiguration");
	none = init(&without, "KubeletConfiguration");
	users = init(&chosen, "KubeletConfiguration");
	ASSERT_STR(json_string_value(json_object_get(usual, field)), "NeverVerify");
	/* Their kubelets refuse it. */
	ASSERT(!json_object_get(other, field));
	ASSERT(!json_object_get(none, field));
	ASSERT_STR(json_string_value(json_object_get(users, field)), "AlwaysVerify");
}

TEST(fast_failover_shortens_the_timeouts_of_all_components)
{
	struct profile fast = profile;
	json_auto_t *cluster = NULL;
	json_auto_t *kubelet = NULL;

	fast.failover = "fast";
	cluster = init(&fast, "ClusterConfiguration");
	kubelet = init(&fast, "KubeletConfiguration");
	assert_has(at(cluster, "apiServer.extraArgs"),
		   "{\"name\":\"default-not-ready-toleration-seconds\",\"value\":\"2\"},"
		   "{\"name\":\"default-unreachable-toleration-seconds\",\"value\":\"2\"}");
	assert_has(at(cluster, "controllerManager.extraArgs"),
		   "{\"name\":\"node-monitor-grace-period\",\"value\":\"8s\"}");
	ASSERT(!strstr(at(cluster, "scheduler.extraArgs"), "node-monitor"));
	ASSERT_STR(at(kubelet, "nodeLeaseDurationSeconds"), "4");
	ASSERT_STR(at(kubelet, "nodeStatusUpdateFrequency"), "\"2s\"");
}

TEST(without_fast_failover_the_timeouts_are_kubernetes_own)
{
	struct profile usual = profile;

	for (int i = 0; i < 2; i++) {
		cleanup_free char *text = NULL;

		usual.failover = i ? "default" : NULL;
		text = kubeadm_init_config(&usual, &node, "t");
		ASSERT(!strstr(text, "node-monitor") && !strstr(text, "toleration-seconds"));
		ASSERT(!strstr(text, "nodeLease") && !strstr(text, "nodeStatus"));
	}
}

TEST(the_users_timeouts_come_before_those_of_fast_failover)
{
	struct profile manager = with_extra(ARGV("controller-manager.node-monitor-period=3s"));
	struct profile kubelet = with_extra(ARGV("kubelet.nodeStatusUpdateFrequency=7s"));
	json_auto_t *one = NULL;
	json_auto_t *two = NULL;

	manager.failover = kubelet.failover = "fast";
	one = init(&manager, "ClusterConfiguration");
	two = init(&kubelet, "KubeletConfiguration");
	assert_has(at(one, "controllerManager.extraArgs"),
		   "{\"name\":\"node-monitor-period\",\"value\":\"3s\"}");
	ASSERT(!strstr(at(one, "controllerManager.extraArgs"),
		       "{\"name\":\"node-monitor-period\",\"value\":\"1s\"}"));
	ASSERT_STR(at(two, "nodeStatusUpdateFrequency"), "\"7s\"");
	ASSERT_STR(at(two, "nodeLeaseDurationSeconds"), "4");
}

TEST(a_kubelet_asks_only_for_labels_that_it_may_have)
{
	struct node labelled = node;
	json_auto_t *reserved = NULL;
	json_auto_t *join = NULL;
	cleanup_free char *text = NULL;

	labelled.labels = (struct strlist){ ARGV("tier=db", "node-role.kubernetes.io/worker=",
						 "notkubernetes.io/x=1",
						 "kubernetes.io/hostname=x"),
					    4 };
	labelled.taints = (struct strlist){ ARGV("dedicated=db:NoSchedule"), 1 };
	text = kubeadm_join_config(&profile, &labelled, "t", "/d");
	join = document(text, "JoinConfiguration");
	reserved = kubeadm_reserved_labels(&labelled);
	assert_has(at(join, "nodeRegistration.kubeletExtraArgs"),
		   "\"tier=db,notkubernetes.io/x=1\"");
	ASSERT_STR(at(reserved, "node-role"), "nothing");
	ASSERT_INT(json_object_size(reserved), 1);
	ASSERT_STR(at(join, "nodeRegistration.taints.0"),
		   "{\"key\":\"dedicated\",\"value\":\"db\",\"effect\":\"NoSchedule\"}");
}

TEST(what_one_kubelet_is_told_comes_before_what_all_are)
{
	struct profile all = with_extra(ARGV("kubelet.v=1"));
	struct node own = node;
	cleanup_free char *text = NULL;
	json_auto_t *join = NULL;

	own.extra_config = (struct strlist){ ARGV("kubelet.v=5"), 1 };
	own.feature_gates = (struct strlist){ ARGV("One=true"), 1 };
	own.max_pods = 7;
	text = kubeadm_join_config(&all, &own, "t", "/d");
	join = document(text, "JoinConfiguration");
	assert_has(at(join, "nodeRegistration.kubeletExtraArgs"),
		   "{\"name\":\"v\",\"value\":\"5\"}");
	assert_has(at(join, "nodeRegistration.kubeletExtraArgs"),
		   "{\"name\":\"max-pods\",\"value\":\"7\"}");
	assert_has(at(join, "nodeRegistration.kubeletExtraArgs"), "\"One=true\"");
	ASSERT(!strstr(at(join, "nodeRegistration.kubeletExtraArgs"), "\"value\":\"1\""));
}

/* Whether the kubelet of a node with a disk is told when to evict pods by us. */
static bool is_told_of_disk(struct profile *all, struct node *own)
{
	cleanup_free char *text = kubeadm_join_config(all, own, "t", "/d");

	return strstr(text, "nodefs.available<10%");
}

TEST(a_kubelet_looks_after_a_disk_of_its_own)
{
	struct profile field = with_extra(ARGV("kubelet.evictionHard.nodefs.available=1Gi"));
	struct profile none = profile;
	struct node own = node;

	ASSERT(!is_told_of_disk(&none, &own));
	own.disk_bytes = UINT64_C(2) << 30;
	ASSERT(is_told_of_disk(&none, &own));
	ASSERT(!is_told_of_disk(&field, &own));
	own.extra_config = (struct strlist){ ARGV("kubelet.eviction-hard=nodefs.available<1Gi"),
					     1 };
	ASSERT(!is_told_of_disk(&none, &own));
}

TEST(names_certificates_and_images_are_as_asked_for)
{
	struct profile changed = profile;
	json_auto_t *cluster = NULL;

	changed.api_names = (struct strlist){ ARGV("api.example.com"), 1 };
	changed.api_ips = (struct strlist){ ARGV("10.1.2.3"), 1 };
	changed.cert_seconds = 7200;
	changed.image_repository = "registry.local/k8s";
	cluster = init(&changed, "ClusterConfiguration");
	assert_has(at(cluster, "apiServer.certSANs"), "\"api.example.com\"");
	assert_has(at(cluster, "apiServer.certSANs"), "\"10.1.2.3\"");
	ASSERT_STR(at(cluster, "certificateValidityPeriod"), "\"7200s\"");
	ASSERT_STR(at(cluster, "imageRepository"), "\"registry.local/k8s\"");
}

TEST(a_token_has_the_form_that_kubernetes_wants_and_is_never_the_same)
{
	cleanup_free char *one = kubeadm_new_token();
	cleanup_free char *two = kubeadm_new_token();

	ASSERT_INT(strlen(one), 23);
	ASSERT(one[6] == '.');
	for (size_t i = 0; one[i]; i++)
		ASSERT(i == 6 || isdigit((unsigned char)one[i]) || islower((unsigned char)one[i]));
	ASSERT(strcmp(one, two) != 0);
}

TEST(a_kubelet_is_told_where_its_certificate_is)
{
	cleanup_free char *text = kubeadm_kubelet_config("Q0E=", "node-2", "/var/lib/x.pem");

	assert_has(text, "\n    certificate-authority-data: Q0E=\n");
	assert_has(text, "\n    client-certificate: /var/lib/x.pem\n");
	assert_has(text, "\n- name: system:node:node-2\n");
}

TEST(a_name_stays_a_name_whatever_yaml_would_take_it_for)
{
	struct profile odd = profile;
	json_auto_t *cluster = NULL;

	odd.name = "true";
	cluster = init(&odd, "ClusterConfiguration");
	ASSERT_STR(at(cluster, "clusterName"), "\"true\"");
}

/* What NODE of a cluster with the changes WORDS, of its own or of all, is told of KIND. */
static json_t *patched(const char *kind, const struct strlist *all, const struct strlist *own)
{
	struct profile cluster = profile;
	struct node one = node;
	cleanup_free char *text = NULL;

	cluster.kubeadm_patches = *all;
	one.kubeadm_patches = *own;
	one.labels = (struct strlist){ (char *[]){ (char *)"tier=db", NULL }, 1 };
	ASSERT_OK(kubeadm_check_patches(&cluster, &one, &err));
	text = kubeadm_init_config(&cluster, &one, "t");
	return document(text, kind);
}

TEST(what_kubeadm_is_told_can_be_changed)
{
	cleanup_with(strlist_release) struct strlist all = STRLIST_INIT;
	cleanup_with(strlist_release) struct strlist own = STRLIST_INIT;
	json_auto_t *cluster = NULL;
	json_auto_t *init = NULL;
	json_auto_t *kubelet = NULL;

	strlist_add(&all, "{\"kind\": \"ClusterConfiguration\", \"operations\": [{\"op\": \"add\","
			  "\"path\": \"/apiServer/certSANs/-\", \"value\": \"last.example\"}]}");
	strlist_add(&all,
		    "{\"kind\": \"ClusterConfiguration\", \"merge\": {\"apiServer\": "
		    "{\"extraArgs\": {\"v\": 5, \"audit-log-path\": \"-\"},"
		    "\"certSANs\": [\"my.example\", \"localhost\"]},"
		    "\"scheduler\": {\"extraArgs\": [{\"name\": \"leader-elect-retry-period\","
		    "\"value\": \"2s\"}]}}}");
	strlist_add(&own, "{\"kind\": \"InitConfiguration\", \"merge\": {\"nodeRegistration\": "
			  "{\"kubeletExtraArgs\": {\"node-labels\": \"ingress-ready=true\"}}}}");
	strlist_add(&own, "{\"kind\": \"KubeletConfiguration\", \"merge\": "
			  "{\"evictionHard\": {\"nodefs.available\": null}, \"maxPods\": 20}}");
	cluster = patched("ClusterConfiguration", &all, &own);
	ASSERT_STR(at(cluster, "apiServer.extraArgs"),
		   "[" OWN_ARGUMENTS ",{\"name\":\"v\",\"value\":\"5\"},"
		   "{\"name\":\"audit-log-path\",\"value\":\"-\"}]");
	ASSERT_STR(at(cluster, "apiServer.certSANs.0"), "\"localhost\"");
	ASSERT_STR(at(cluster, "apiServer.certSANs.4"), "\"my.example\"");
	ASSERT_STR(at(cluster, "apiServer.certSANs.5"), "\"last.example\"");
	assert_has(at(cluster, "scheduler.extraArgs"),
		   "{\"name\":\"leader-elect-retry-period\",\"value\":\"2s\"}");
	assert_has(at(cluster, "scheduler.extraArgs"), "leader-elect-lease-duration");
	init = patched("InitConfiguration", &all, &own);
	assert_has(at(init, "nodeRegistration.kubeletExtraArgs"), "tier=db,ingress-ready=true");
	kubelet = patched("KubeletConfiguration", &all, &own);
	ASSERT_STR(at(kubelet, "maxPods"), "20");
	ASSERT(!strstr(at(kubelet, "evictionHard"), "nodefs.available"));
	assert_has(at(kubelet, "evictionHard"), "nodefs.inodesFree");
}

TEST(operations_find_arguments_by_their_names_too)
{
	cleanup_with(strlist_release) struct strlist all = STRLIST_INIT;
	cleanup_with(strlist_release) struct strlist none = STRLIST_INIT;
	json_auto_t *cluster = NULL;
	json_auto_t *init = NULL;

	strlist_add(&all, "{\"kind\": \"ClusterConfiguration\", \"operations\": ["
			  "{\"op\": \"add\", \"path\": \"/apiServer/extraArgs/v\", \"value\": 5},"
			  "{\"op\": \"remove\", \"path\": "
			  "\"/scheduler/extraArgs/leader-elect-lease-duration\"},"
			  "{\"op\": \"add\", \"path\": \"/apiServer/extraArgs/-\", \"value\": "
			  "{\"name\": \"profiling\", \"value\": \"false\"}},"
			  "{\"op\": \"replace\", \"path\": \"/apiServer/extraArgs/v\","
			  "\"value\": \"6\"}]}");
	strlist_add(&all, "{\"kind\": \"InitConfiguration\", \"operations\": [{\"op\": \"add\","
			  "\"path\": \"/nodeRegistration/kubeletExtraArgs/node-labels\","
			  "\"value\": \"a=b\"}]}");
	cluster = patched("ClusterConfiguration", &all, &none);
	ASSERT_STR(at(cluster, "apiServer.extraArgs"),
		   "[" OWN_ARGUMENTS ",{\"name\":\"v\",\"value\":\"6\"},"
		   "{\"name\":\"profiling\",\"value\":\"false\"}]");
	ASSERT(!strstr(at(cluster, "scheduler.extraArgs"), "leader-elect-lease-duration"));
	init = patched("InitConfiguration", &all, &none);
	assert_has(at(init, "nodeRegistration.kubeletExtraArgs"), "tier=db,a=b");
}

TEST(changes_that_can_not_be_made_are_named)
{
	static const char *const wrong[][2] = {
		{ "nonsense", "either" },
		{ "{\"kind\": \"ClusterConfiguration\"}", "either 'merge' or 'operations'" },
		{ "{\"kind\": \"Clusterconfiguration\", \"merge\": {}}",
		  "did you mean 'ClusterConfiguration'?" },
		{ "{\"kind\": \"ClusterConfiguration\", \"merge\": []}", "not a mapping" },
		{ "{\"kind\": \"ClusterConfiguration\", \"operations\": [{\"op\": \"x\"}]}",
		  "not 'x'" },
		{ "{\"kind\": \"ClusterConfiguration\", \"merge\": {\"networking\": {}}}",
		  "'networking' of ClusterConfiguration is set by manykube itself" },
		{ "{\"kind\": \"InitConfiguration\", \"merge\": {\"nodeRegistration\": null}}",
		  "'nodeRegistration/name'" },
		{ "{\"kind\": \"JoinConfiguration\", \"operations\": [{\"op\": \"remove\","
		  "\"path\": \"/discovery/file\"}]}",
		  "'discovery'" },
		{ "{\"kind\": \"JoinConfiguration\", \"operations\": [{\"op\": \"replace\","
		  "\"path\": \"\", \"value\": {}}]}",
		  "set by manykube itself" },
	};
	struct profile cluster = profile;
	cleanup_with(strlist_release) struct strlist words = STRLIST_INIT;
	cleanup_with(error_clear) struct error why = ERROR_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		cleanup_with(error_clear) struct error err = ERROR_INIT;

		ASSERT_INT(kubeadm_patch_check(wrong[i][0], &err), -EINVAL);
		ASSERT(err.reason == &reason_usage);
		assert_has(err.text, wrong[i][1]);
	}
	strlist_add(&words, "{\"kind\": \"KubeletConfiguration\", \"operations\": "
			    "[{\"op\": \"remove\", \"path\": \"/nowhere\"}]}");
	cluster.kubeadm_patches = words;
	ASSERT_INT(kubeadm_check_patches(&cluster, &node, &why), -EINVAL);
	assert_has(why.text, "cannot apply a patch to KubeletConfiguration: operation 1: "
			     "'/nowhere' does not exist");
}
