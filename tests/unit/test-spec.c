#include <arpa/inet.h>

#include "base/cleanup.h"
#include "base/process.h"
#include "describe/choices.h"
#include "node/registries.h"
#include "record/labels.h"
#include "record/options.h"
#include "record/spec.h"
#include "test.h"

static void assert_port(const char *text, const char *address, unsigned host, unsigned node)
{
	struct port_spec port;

	ASSERT_OK(spec_parse_port(text, &port, &err));
	ASSERT_STR(inet_ntoa(port.address), address);
	ASSERT_INT(port.host_port, host);
	ASSERT_INT(port.node_port, node);
}

TEST(ports_are_read_as_docker_writes_them)
{
	assert_port("8080:30080", "127.0.0.1", 8080, 30080);
	assert_port("8080", "127.0.0.1", 8080, 8080);
	assert_port("0.0.0.0:80:30080/tcp", "0.0.0.0", 80, 30080);
	assert_port("127.0.0.1:9090", "127.0.0.1", 9090, 9090);
	assert_port("8080:80@worker", "127.0.0.1", 8080, 80);
	assert_port("8080/tcp@worker-2", "127.0.0.1", 8080, 8080);
}

TEST(ports_that_make_no_sense_are_refused)
{
	static const char *const texts[] = { "",       ":",       "x",           "0",
					     "65536",  "80:",     ":80",         "80:80:80",
					     "1.2.3",  "1.2.3.4", "1:2:3:4",     "80/udp",
					     "80/",    "80::80",  "1.2.3.4:80:", "80@",
					     "80@A_b", "@a",      "80@a@b",      "80@a/tcp" };
	struct port_spec port;

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		ASSERT_INT(spec_parse_port(texts[i], &port, NULL), -EINVAL);
}

TEST(mounts_have_two_paths_and_maybe_a_mode)
{
	cleanup_with(spec_release_mount) struct node_mount one = { NULL };
	cleanup_with(spec_release_mount) struct node_mount two = { NULL };

	ASSERT_OK(spec_parse_mount("/home/me/:/src/", &one, &err));
	ASSERT_STR(one.host, "/home/me");
	ASSERT_STR(one.node, "/src");
	ASSERT(!one.read_only);
	ASSERT_OK(spec_parse_mount("/a:/var/lib/b:ro", &two, &err));
	ASSERT(two.read_only);
}

TEST(mounts_that_would_break_a_node_are_refused)
{
	static const char *const texts[] = { "",           "/a",       ":/b",
					     "/a:",        "/a:b",     "a:/b",
					     "/a:/b:x",    "/a:/",     "/a:/etc",
					     "/a:/proc/x", "/a:/../b", "/a:/b/..",
					     "/a:/usr",    "/a://b",   "/a:/opt/manykube/bin" };
	cleanup_with(spec_release_mount) struct node_mount mount = { NULL };

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		ASSERT_INT(spec_parse_mount(texts[i], &mount, NULL), -EINVAL);
}

TEST(labels_and_taints_are_what_kubernetes_takes)
{
	static const char *const bad[] = { "",     "=x",   "a b=c", "a=b c",
					   "/a=b", "-a=b", "a=b/c", "Upper.example/x/y=1" };
	cleanup_with(spec_release_pair) struct pair_spec label = PAIR_SPEC_INIT;
	cleanup_with(spec_release_taint) struct taint_spec taint = TAINT_SPEC_INIT;

	ASSERT_OK(spec_parse_label("example.com/tier=db_1", &label, &err));
	ASSERT_STR(label.key, "example.com/tier");
	ASSERT_STR(label.value, "db_1");
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		ASSERT_INT(spec_parse_label(bad[i], &label, NULL), -EINVAL);
	ASSERT_OK(spec_parse_taint("dedicated=db:NoSchedule", &taint, &err));
	ASSERT_STR(taint.label.key, "dedicated");
	ASSERT_STR(taint.label.value, "db");
	ASSERT_STR(taint.effect, "NoSchedule");
	spec_release_taint(&taint);
	ASSERT_OK(spec_parse_taint("alone:NoExecute", &taint, &err));
	ASSERT_STR(taint.label.value, "");
	spec_release_taint(&taint);
	ASSERT_INT(spec_parse_taint("a=b:Never", &taint, NULL), -EINVAL);
	ASSERT_INT(spec_parse_taint("a=b", &taint, NULL), -EINVAL);
}

TEST(extra_config_names_its_component)
{
	cleanup_with(spec_release_extra) struct extra_spec extra = EXTRA_SPEC_INIT;
	cleanup_with(error_clear) struct error why = ERROR_INIT;

	ASSERT_OK(spec_parse_extra("kubelet.node-labels=a=b,c=d", &extra, &err));
	ASSERT_STR(extra.component, "kubelet");
	ASSERT_STR(extra.key, "node-labels");
	ASSERT_STR(extra.value, "a=b,c=d");
	ASSERT_INT(spec_parse_extra("kubelt.v=1", &extra, &why), -EINVAL);
	ASSERT(strstr(why.text, "unknown component 'kubelt'"));
	ASSERT_INT(spec_parse_extra("kubelet.=1", &extra, NULL), -EINVAL);
	ASSERT_INT(spec_parse_extra("kubelet.v", &extra, NULL), -EINVAL);
	ASSERT_INT(spec_parse_extra("v=1", &extra, NULL), -EINVAL);
}

TEST(one_node_has_only_arguments_of_its_kubelet)
{
	ASSERT_OK(spec_check_kubelet_argument("kubelet.max-pods=5", &err));
	ASSERT_INT(spec_check_kubelet_argument("kubelet.maxPods=5", NULL), -EINVAL);
	ASSERT_INT(spec_check_kubelet_argument("apiserver.v=5", NULL), -EINVAL);
}

TEST(variables_have_names_and_one_line)
{
	ASSERT_OK(spec_check_variable("HTTP_PROXY=http://a b\"c", &err));
	ASSERT_OK(spec_check_variable("EMPTY=", &err));
	ASSERT_INT(spec_check_variable("1A=x", NULL), -EINVAL);
	ASSERT_INT(spec_check_variable("A", NULL), -EINVAL);
	ASSERT_INT(spec_check_variable("=x", NULL), -EINVAL);
	ASSERT_INT(spec_check_variable("A=x\ny", NULL), -EINVAL);
}

TEST(gates_are_true_or_false)
{
	cleanup_with(spec_release_pair) struct pair_spec gate = PAIR_SPEC_INIT;

	ASSERT_OK(spec_parse_gate("InPlace=true", &gate, &err));
	ASSERT_INT(spec_parse_gate("InPlace=yes", &gate, NULL), -EINVAL);
	ASSERT_INT(spec_parse_gate("In-Place=true", &gate, NULL), -EINVAL);
	ASSERT_INT(spec_parse_gate("=true", &gate, NULL), -EINVAL);
}

TEST(containerd_is_told_of_mirrors_and_insecure_registries)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	cleanup_free char *docker = NULL;
	cleanup_free char *quay = NULL;
	cleanup_free char *own = NULL;

	strlist_add(&profile.insecure_registries, "registry.local:5000");
	strlist_add(&profile.registry_mirrors, "http://registry.local:5000");
	strlist_add(&profile.registry_mirrors, "quay.io=https://registry.local:5000/");
	registries_list(&profile, &names);
	ASSERT_INT(names.count, 3);
	docker = registries_text(&profile, "docker.io");
	own = registries_text(&profile, "registry.local:5000");
	quay = registries_text(&profile, "quay.io");
	ASSERT(strstr(quay, "skip_verify = true\n"));
	ASSERT(strstr(docker, "server = \"https://registry-1.docker.io\"\n"));
	ASSERT(strstr(docker, "[host.\"http://registry.local:5000\"]\n"));
	ASSERT(!strstr(docker, "skip_verify"));
	ASSERT(strstr(own, "[host.\"http://registry.local:5000\"]\n"));
}

TEST(a_node_may_have_registries_of_its_own)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_with(registries_release) struct profile told = PROFILE_INIT;
	cleanup_free char *docker = NULL;
	struct node *node = profile_add_node(&profile, "node-1");
	const char *own;

	strlist_add(&profile.registry_mirrors, "http://all");
	strlist_add(&node->registry_mirrors, "https://one:5000");
	strlist_add(&node->insecure_registries, "one:5000");
	registries_of_node(&profile, node, &told);
	docker = registries_text(&told, "docker.io");
	own = strstr(docker, "[host.\"https://one:5000\"]\n");
	ASSERT(own && strstr(own, "skip_verify = true\n"));
	/* The cluster's come after it. */
	ASSERT(strstr(own, "[host.\"http://all\"]\n"));
	ASSERT_INT(profile.registry_mirrors.count, 1);
}

TEST(containerd_finds_the_clusters_registry_at_the_host)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	cleanup_free char *own = NULL;
	cleanup_free char *other = NULL;

	profile.gateway = xstrdup("192.168.39.1");
	profile.registry_port = 5001;
	/* It is the cluster's own whatever the user says of that name. */
	strlist_add(&profile.insecure_registries, "localhost:5001");
	strlist_add(&profile.insecure_registries, "localhost:5000");
	registries_list(&profile, &names);
	ASSERT_INT(names.count, 2);
	own = registries_text(&profile, "localhost:5001");
	ASSERT(strstr(own, "\nserver = \"http://192.168.39.1:5001\"\n"));
	ASSERT(!strstr(own, "https"));
	other = registries_text(&profile, "localhost:5000");
	ASSERT(strstr(other, "[host.\"http://localhost:5000\"]\n"));
}

TEST(what_a_start_can_not_change_comes_with_what_can)
{
	static const struct {
		const char *option;
		const char *word;
		const char *advice;
	} refused[] = {
		{ "label", "a=b", "'manykube node set NODE' takes it" },
		{ "taint", "a:NoSchedule", "'manykube apply'" },
		{ "env", "A=1", "'manykube apply' changes it" },
		{ "extra-config", "kubelet.v=4", "'manykube node add' and 'manykube apply'" },
		{ "feature-gates", "A=true", "for the kubelets of single nodes" },
		{ "apiserver-names", "x", "create another cluster with -p" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
		cleanup_with(error_clear) struct error why = ERROR_INIT;
		const struct setting *setting = setting_find(
			SETTING_OF_CLUSTER | SETTING_OF_DEFAULTS, refused[i].option);
		struct cluster_options options = { 0 };
		struct strlist *wanted = setting_in_cluster(setting, &options.settings);

		profile.name = xstrdup("dev");
		strlist_add(wanted, refused[i].word);
		ASSERT_INT(choices_take(&options, &profile, &why), -EINVAL);
		if (!strstr(why.hint, refused[i].advice))
			test_fail(__FILE__, __LINE__, "no '%s': %s", refused[i].advice, why.hint);
		strlist_release(wanted);
	}
}

static void assert_tables(const char *mirrors, const char *insecure, const char *name,
			  unsigned expected)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_free char *text = NULL;
	unsigned tables = 0;

	strlist_split(&profile.registry_mirrors, mirrors, ' ');
	strlist_split(&profile.insecure_registries, insecure, ' ');
	text = registries_text(&profile, name);
	for (const char *at = text; (at = strstr(at, "[host.")); at++)
		tables++;
	ASSERT_INT(tables, expected);
}

TEST(containerd_is_told_of_no_host_twice)
{
	/* Records of earlier versions may have a mirror in several spellings. */
	assert_tables("http://a docker.io=http://a http://a/ http://b", "", "docker.io", 2);
	assert_tables("r:5000=http://r:5000", "r:5000", "r:5000", 2);
	assert_tables("r:5000=https://r:5000 r:5000=http://r:5000/", "r:5000", "r:5000", 2);
}

static void assert_choice_refused(const struct cluster_options *options, const char *words)
{
	cleanup_with(error_clear) struct error why = ERROR_INIT;

	ASSERT_INT(choices_check(options, &why), -EINVAL);
	ASSERT(why.reason == &reason_usage);
	if (!strstr(why.text, words))
		test_fail(__FILE__, __LINE__, "'%s' is not in '%s'", words, why.text);
}

TEST(a_wrong_choice_is_named_by_its_option)
{
	struct cluster_options options = { 0 };

	options.mounts = (struct strlist){ ARGV("/no/such/directory:/x"), 1 };
	assert_choice_refused(
		&options, "--mount: '/no/such/directory:/x': '/no/such/directory' does not exist");
	options = (struct cluster_options){ .service_subnet = "10.0.0.0/8" };
	assert_choice_refused(&options, "--service-cluster-ip-range: '10.0.0.0/8' is too large");
	options = (struct cluster_options){ .pod_subnet = "10.0.0.0/25" };
	assert_choice_refused(&options, "--pod-network-cidr: '10.0.0.0/25' is too small");
	options = (struct cluster_options){ .dns_domain = "Not_A_Name" };
	assert_choice_refused(&options, "--dns-domain");
	options = (struct cluster_options){ .api_port = 70000 };
	assert_choice_refused(&options, "--apiserver-port");
	options = (struct cluster_options){ 0 };
	options.extra_config = (struct strlist){ ARGV("proxy.mode=iptables"), 1 };
	assert_choice_refused(&options, "nftables only");
	options = (struct cluster_options){ 0 };
	options.extra_config = (struct strlist){ ARGV("kubeadm.pod-network-cidr=10.0.0.0/16"), 1 };
	assert_choice_refused(&options, "use --pod-network-cidr instead");
	options = (struct cluster_options){ 0 };
	options.api_ips = (struct strlist){ ARGV("1.2.3"), 1 };
	assert_choice_refused(&options, "--apiserver-ips");
}

TEST(what_a_cluster_was_made_with_stays_and_what_may_change_does)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	struct cluster_options options = { .dns_domain = "one.test", .api_port = 1000 };

	profile.name = xstrdup("dev");
	choices_take_new(&options, &profile);
	ASSERT_STR(profile.dns_domain, "one.test");
	ASSERT_INT(profile.api_port, 1000);
	ASSERT_OK(choices_take(&options, &profile, &err));
	options.api_port = 2000;
	strlist_add(&options.ports, "80");
	ASSERT_OK(choices_take(&options, &profile, &err));
	ASSERT_INT(profile.api_port, 2000);
	ASSERT_STR(profile.ports.items[0], "80");
	options.dns_domain = "two.test";
	ASSERT_INT(choices_take(&options, &profile, &why), -EINVAL);
	ASSERT_STR(why.text,
		   "cluster 'dev' exists with --dns-domain=one.test, which cannot be changed to "
		   "'two.test'");
	strlist_release(&options.ports);
}

/* The options of `start` that can be repeated. */
#define LIST(wanted_, kept_) \
	offsetof(struct cluster_options, wanted_), offsetof(struct profile, kept_)
static const struct {
	const char *option;
	size_t wanted;
	size_t kept;
	const char *first;
	const char *second;
	bool may_change;
} lists[] = {
	{ "--apiserver-ips", LIST(api_ips, api_ips), "10.0.0.1", "10.0.0.2", false },
	{ "--apiserver-names", LIST(api_names, api_names), "one", "two", false },
	{ "--docker-env", LIST(docker_env, docker_env), "A=1", "B=2", false },
	{ "--docker-opt", LIST(docker_opt, docker_opt), "debug", "mtu=1400", false },
	{ "--env", LIST(env, env), "A=1", "B=2", false },
	{ "--extra-config", LIST(extra_config, extra_config), "kubelet.v=2", "etcd.x=y", false },
	{ "--feature-gates", LIST(feature_gates, feature_gates), "One=true", "Two=true", false },
	{ "--insecure-registry", LIST(insecure_registries, insecure_registries), "one:5000",
	  "two:5000", true },
	{ "--label", LIST(labels, labels), "a=1", "b=2", false },
	{ "--load-images", LIST(images, images), "/a.tar", "/b.tar", true },
	{ "--mount", LIST(mounts, mounts), "/tmp:/a", "/tmp:/b", false },
	{ "--ports", LIST(ports, ports), "8080:30080", "9090:30090", true },
	{ "--registry-mirror", LIST(registry_mirrors, registry_mirrors), "http://one", "http://two",
	  true },
	{ "--taint", LIST(taints, taints), "a:NoSchedule", "b:NoSchedule", false },
};

TEST(no_list_of_a_cluster_that_exists_is_replaced)
{
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
		cleanup_with(error_clear) struct error why = ERROR_INIT;
		struct cluster_options options = { 0 };
		struct strlist *wanted = (struct strlist *)((char *)&options + lists[i].wanted);
		struct strlist *kept = (struct strlist *)((char *)&profile + lists[i].kept);
		int r;

		profile.name = xstrdup("dev");
		strlist_add(wanted, lists[i].first);
		choices_take_new(&options, &profile);
		strlist_release(wanted);
		strlist_add(wanted, lists[i].second);
		r = choices_take(&options, &profile, &why);
		ASSERT_INT(r, lists[i].may_change ? 0 : -EINVAL);
		ASSERT(r == 0 || strstr(why.text, lists[i].option));
		ASSERT_INT(kept->count, lists[i].may_change ? 2 : 1);
		ASSERT_STR(kept->items[0], lists[i].first);
		/* What it has already may be said again, in any order or in part. */
		strlist_release(wanted);
		if (lists[i].may_change)
			strlist_add(wanted, lists[i].second);
		strlist_add(wanted, lists[i].first);
		ASSERT_OK(choices_take(&options, &profile, &err));
		ASSERT_INT(kept->count, lists[i].may_change ? 2 : 1);
		ASSERT_STR(kept->items[0], lists[i].first);
		strlist_release(wanted);
	}
}

TEST(a_word_in_another_spelling_is_not_added_again)
{
	static const struct {
		const char *option;
		const char *kept;
		const char *given;
	} same[] = {
		{ "registry-mirror", "http://a", "docker.io=http://a" },
		{ "registry-mirror", "docker.io=http://a/", "http://a" },
		{ "ports", "8080", "127.0.0.1:8080:8080" },
		{ "extra-config", "kube-apiserver.v=4", "apiserver.v=4" },
		{ "label", "a", "a=" },
		{ "taint", "a:NoSchedule", "a=:NoSchedule" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(same); i++) {
		cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
		const struct setting *setting = setting_find(
			SETTING_OF_CLUSTER | SETTING_OF_DEFAULTS, same[i].option);
		struct cluster_options options = { 0 };
		struct strlist *given = setting_in_cluster(setting, &options.settings);
		struct strlist *kept = setting_in_cluster(setting, &profile.settings);

		strlist_add(kept, same[i].kept);
		strlist_add(given, same[i].given);
		ASSERT(setting_equals(setting, kept, given));
		ASSERT_OK(choices_take(&options, &profile, &err));
		ASSERT_INT(kept->count, 1);
		ASSERT_STR(kept->items[0], same[i].kept);
		strlist_release(given);
	}
}

TEST(a_mirror_given_twice_is_kept_once)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	struct cluster_options options = { 0 };

	strlist_split(&options.registry_mirrors, "http://a docker.io=http://a/ http://b", ' ');
	choices_take_new(&options, &profile);
	ASSERT_INT(profile.registry_mirrors.count, 2);
	ASSERT_OK(choices_take(&options, &profile, &err));
	ASSERT_INT(profile.registry_mirrors.count, 2);
	strlist_release(&options.registry_mirrors);
	strlist_split(&options.registry_mirrors, "http://c docker.io=http://c/", ' ');
	ASSERT_OK(choices_take(&options, &profile, &err));
	ASSERT_INT(profile.registry_mirrors.count, 3);
	strlist_release(&options.registry_mirrors);
}

TEST(what_becomes_of_a_cluster_that_exists_is_told)
{
	cleanup_with(profile_release) struct profile before = PROFILE_INIT;
	cleanup_with(profile_release) struct profile after = PROFILE_INIT;
	cleanup_with(strlist_release) struct strlist told = STRLIST_INIT;
	struct cluster_options options = { .host_access = "9090" };

	before.host_access = xstrdup("8080");
	after.host_access = xstrdup("8080");
	strlist_split(&before.ports, "8080:30080 127.0.0.1:8081:1 8082", ' ');
	strlist_split(&after.ports, "8080:30080 127.0.0.1:8081:1 8082", ' ');
	strlist_split(&options.ports, "8081:30081@node-2 9090 8082", ' ');
	choices_describe(&before, &after, &told);
	ASSERT_INT(told.count, 0);
	ASSERT_OK(choices_take(&options, &after, &err));
	choices_describe(&before, &after, &told);
	ASSERT_INT(told.count, 2);
	ASSERT_STR(told.items[1], "Changing --host-access from 8080 to 9090");
	ASSERT_STR(told.items[0],
		   "Adding to --ports: 8081:30081@node-2, 9090; it replaces 127.0.0.1:8081:1; "
		   "8080:30080, 8082 stay; 'manykube apply' removes what is not in its file");
	strlist_release(&options.ports);
}

static void assert_changed(int (*change)(struct strlist *, const struct strlist *, struct error *),
			   const char *before, const char *changes, const char *after)
{
	cleanup_with(strlist_release) struct strlist kept = STRLIST_INIT;
	cleanup_with(strlist_release) struct strlist words = STRLIST_INIT;
	cleanup_free char *shown = NULL;

	strlist_split(&kept, before, ' ');
	strlist_split(&words, changes, ' ');
	ASSERT_OK(change(&kept, &words, &err));
	shown = strlist_join(&kept, " ");
	ASSERT_STR(shown, after);
}

TEST(labels_are_set_and_taken_away)
{
	assert_changed(labels_change, "a=1 b=2", "a=3", "b=2 a=3");
	assert_changed(labels_change, "a=1 ab=2", "a-", "ab=2");
	assert_changed(labels_change, "", "gone-", "");
	assert_changed(labels_change, "a=1", "c=x-y", "a=1 c=x-y");
}

TEST(labels_of_the_kubelet_are_not_for_users)
{
	static const char *const words[] = { "kubernetes.io/hostname=x", "kubernetes.io/hostname-",
					     "kubernetes.io/os=plan9", "beta.kubernetes.io/arch-" };
	struct node_options node = { 0 };
	struct cluster_options added = { .add = &node, .add_count = 1 };
	struct cluster_options all = { 0 };
	json_auto_t *patch = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		cleanup_with(strlist_release) struct strlist kept = STRLIST_INIT;
		cleanup_with(error_clear) struct error why = ERROR_INIT;
		struct strlist change = { (char *[]){ (char *)(uintptr_t)words[i], NULL }, 1 };

		ASSERT_INT(labels_change(&kept, &change, &why), -EINVAL);
		ASSERT(why.reason == &reason_usage && why.hint);
		ASSERT(strstr(why.text, "--label: the label '"));
		all.labels = node.labels = change;
		ASSERT_INT(choices_check(&all, NULL), -EINVAL);
		ASSERT_INT(choices_check(&added, NULL), -EINVAL);
	}
	/* Others are, and a record that has one can get rid of it. */
	assert_changed(labels_change, "", "topology.kubernetes.io/zone=a",
		       "topology.kubernetes.io/zone=a");
	assert_changed(labels_change, "kubernetes.io/hostname=x a=1", "kubernetes.io/hostname-",
		       "a=1");
	node.labels = (struct strlist){ ARGV("kubernetes.io/hostname-", "a=1"), 2 };
	patch = labels_patch(&node.labels);
	ASSERT_INT(json_object_size(patch), 1);
}

TEST(taints_are_set_and_taken_away_by_key_and_effect)
{
	assert_changed(labels_change_taints, "a=1:NoSchedule a=1:NoExecute", "a:NoExecute-",
		       "a=1:NoSchedule");
	assert_changed(labels_change_taints, "a=1:NoSchedule a=1:NoExecute b:NoSchedule", "a-",
		       "b:NoSchedule");
	assert_changed(labels_change_taints, "a=1:NoSchedule", "a=2:NoSchedule", "a=2:NoSchedule");
	assert_changed(labels_change_taints, "a=1:NoSchedule", "b:NoExecute",
		       "a=1:NoSchedule b:NoExecute");
}

TEST(nodes_reach_all_nothing_or_ports_of_the_host)
{
	static const char *const good[] = { "all", "none", "1", "8080", "8080,65535" };
	static const char *const bad[] = { "",      "some",     "all,8080", "0",
					   "08080", "65536",    "8080,",    "8080,,9090",
					   ",8080", "8080/tcp", "8080 9090" };
	cleanup_with(error_clear) struct error err = ERROR_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		ASSERT_INT(spec_check_host_access(good[i], NULL), 0);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		ASSERT_INT(spec_check_host_access(bad[i], NULL), -EINVAL);
	ASSERT_INT(spec_check_host_access("some", &err), -EINVAL);
	ASSERT_STR(err.text, "'some' is not all, none or a list of ports, for instance 8080,9090");
}

TEST(there_is_one_runtime_of_containers)
{
	static const char *const others[] = { "docker", "cri-o", "crio", "", "Containerd" };
	cleanup_with(error_clear) struct error why = ERROR_INIT;

	ASSERT_OK(spec_check_runtime("containerd", &err));
	ASSERT_OK(spec_check_runtime("auto", &err));
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		ASSERT_INT(spec_check_runtime(others[i], NULL), -EINVAL);
	ASSERT_INT(spec_check_runtime("docker", &why), -EINVAL);
	ASSERT(why.reason == &reason_usage);
	ASSERT(strstr(why.text, "nodes run containerd"));
}

TEST(a_disk_must_have_room_for_kubernetes)
{
	struct cluster_options all = { .disk_bytes = (UINT64_C(2) << 30) - 1 };
	struct node_options node = { .disk_bytes = 1 };
	struct cluster_options one = { .add = &node, .add_count = 1 };

	ASSERT_INT(choices_check(&all, NULL), -ERANGE);
	ASSERT_INT(choices_check(&one, NULL), -ERANGE);
	node.disk_bytes = (UINT64_C(15) << 40) + 1;
	ASSERT_INT(choices_check(&one, NULL), -ERANGE);
	all.disk_bytes++;
	ASSERT_OK(choices_check(&all, &err));
}

TEST(disks_and_bases_of_a_cluster_that_exists_stay)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	struct cluster_options options = { .disk_bytes = UINT64_C(3) << 30,
					   .base_image = "/srv/base" };

	profile.name = xstrdup("dev");
	choices_take_new(&options, &profile);
	ASSERT_INT(profile.disk_bytes, UINT64_C(3) << 30);
	ASSERT_STR(profile.base_image, "/srv/base");
	ASSERT_OK(choices_take(&options, &profile, &err));
	options.disk_bytes <<= 1;
	ASSERT_INT(choices_take(&options, &profile, &why), -EINVAL);
	ASSERT(strstr(why.text, "--disk-size=3g"));
}
