#include "cmd/setting-options.h"

#include <string.h>

#include "base/cleanup.h"
#include "record/options.h"
#include "record/profile.h"
#include "record/setting-check.h"
#include "test.h"

static void assert_differ(const struct setting *one, const struct setting *other)
{
	bool cluster = setting_is_of_cluster(one) && setting_is_of_cluster(other);
	bool node = setting_is_of_node(one) && setting_is_of_node(other);

	if (cluster || node)
		ASSERT(strcmp(one->key, other->key) != 0);
	if (cluster)
		ASSERT(one->cluster != other->cluster);
	if (node)
		ASSERT(one->node != other->node);
	if ((cluster || node) && one->option && other->option)
		ASSERT(strcmp(one->option, other->option) != 0);
}

TEST(no_two_settings_have_the_same_key_member_or_option)
{
	const struct setting *one;
	const struct setting *other;

	setting_for_each(one)
		for (other = setting_table; other < one; other++)
			assert_differ(one, other);
}

TEST(rows_have_what_their_options_need)
{
	const struct setting *setting;

	setting_for_each(setting) {
		bool has_operand = setting->type != SETTING_WORD && setting->type != SETTING_PATH &&
				   !setting_is_list(setting);

		if (!setting->has_member)
			continue;
		ASSERT(setting->key && setting->help);
		ASSERT(!setting->option || has_operand || setting->operand);
		ASSERT(setting->type != SETTING_CHOICE || setting->words);
		ASSERT(setting->type != SETTING_NUMBER || setting->most);
		/* Lists are of words, and only they are merged. */
		ASSERT(setting_is_list(setting) || (!setting->change && !setting->by_key));
	}
}

TEST(values_that_let_root_act_beyond_the_user_are_known)
{
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	cleanup_free char *joined = NULL;
	const struct setting *setting;

	setting_for_each(setting)
		if (setting->beyond_user)
			strlist_add(&names, setting->option);
	joined = strlist_join(&names, " ");
	ASSERT_STR(joined, "cni subnet pod-network-cidr apiserver-port ports mount kubelet-binary "
			   "base-image kernel");
	ASSERT(!setting_has_guarded_port("8080:30080,127.0.0.2:1024"));
	ASSERT(setting_has_guarded_port("8080:30080,1023"));
	ASSERT(setting_has_guarded_port("0.0.0.0:8080"));
	ASSERT(setting_has_guarded_port("192.168.1.2:8080:80"));
	ASSERT(setting_has_guarded_port("nonsense"));
	ASSERT(setting_is_low_port("443"));
	ASSERT(!setting_is_low_port("6443"));
	ASSERT(!setting_is_public_subnet("172.31.0.0/16"));
	ASSERT(!setting_is_public_subnet("10.0.0.0/8"));
	ASSERT(setting_is_public_subnet("192.0.0.0/8"));
	ASSERT(setting_is_public_subnet("198.51.100.0/24"));
}

TEST(a_record_has_its_own_copy_of_every_setting)
{
	struct cluster_options options = { .subnet = "192.168.60.0/24",
					   .cpus = ALL_CPUS,
					   .memory_bytes = ALL_MEMORY,
					   .disk_bytes = 5,
					   .offline = true };
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	const struct setting *setting;

	strlist_add(&options.labels, "a=b");
	setting_for_each(setting)
		if (setting_is_of_cluster(setting))
			setting_keep(setting, setting_in_cluster(setting, &options.settings),
				     setting_in_cluster(setting, &profile.settings));
	ASSERT_STR(profile.subnet, options.subnet);
	ASSERT(profile.subnet != options.subnet);
	ASSERT_INT(profile.cpus, 0);
	ASSERT_INT(profile.memory_bytes, 0);
	ASSERT_INT(profile.disk_bytes, 5);
	ASSERT(profile.offline && !profile.embed_certs);
	ASSERT_STR(profile.labels.items[0], "a=b");
	ASSERT(profile.labels.items[0] != options.labels.items[0]);
	strlist_release(&options.labels);
}

TEST(nodes_inherit_what_they_do_not_have)
{
	struct cluster_settings defaults = { .cpus = 2,
					     .memory_bytes = 1,
					     .max_pods = 50,
					     .base_image = "/base",
					     .kubernetes_version = "v1" };
	struct node_settings own = { .cpus = ALL_CPUS, .max_pods = 9, .name = "n" };
	struct node_settings node = { .name = NULL };
	cleanup_free char *env = NULL;
	cleanup_free char *labels = NULL;
	cleanup_free char *mounts = NULL;

	strlist_split(&defaults.env, "A=1 B=2", ' ');
	strlist_split(&own.env, "B=3 BB=4", ' ');
	strlist_split(&defaults.labels, "x=1 y=2", ' ');
	strlist_split(&own.labels, "x- z=3", ' ');
	strlist_split(&defaults.mounts, "/a:/a", ' ');
	strlist_split(&own.mounts, "/b:/b", ' ');
	strlist_split(&defaults.extra_config, "apiserver.v=1", ' ');
	strlist_split(&own.extra_config, "kubelet.v=1", ' ');
	settings_inherit(&defaults, &own, &node);
	ASSERT_INT(node.cpus, 0);
	ASSERT_INT(node.memory_bytes, 1);
	ASSERT_INT(node.max_pods, 9);
	ASSERT_STR(node.base_image, "/base");
	/* Who plans a node gives it these. */
	ASSERT(!node.name && !node.kubernetes_version);
	env = strlist_join(&node.env, " ");
	ASSERT_STR(env, "A=1 B=3 BB=4");
	labels = strlist_join(&node.labels, " ");
	ASSERT_STR(labels, "y=2 z=3");
	mounts = strlist_join(&node.mounts, " ");
	ASSERT_STR(mounts, "/a:/a /b:/b");
	/* The cluster's own are about more than nodes. */
	ASSERT_INT(node.extra_config.count, 1);
	ASSERT_STR(node.extra_config.items[0], "kubelet.v=1");
	settings_release_node(&node);
	ASSERT(!node.base_image && node.env.count == 0);
	strlist_release(&defaults.env);
	strlist_release(&own.env);
	strlist_release(&defaults.labels);
	strlist_release(&own.labels);
	strlist_release(&defaults.mounts);
	strlist_release(&own.mounts);
	strlist_release(&defaults.extra_config);
	strlist_release(&own.extra_config);
}

static struct cluster_options wanted;
static struct node_settings changes;
static bool early;

static const struct opt table[] = {
	OPT_SETTINGS(&wanted, "memory offline"),
	OPT_FLAG(0, "cni", &early, "a command's own option of that name"),
	OPT_SETTINGS(&wanted, NULL),
	OPT_END,
};

static const struct opt change_table[] = {
	OPT_NODE_CHANGES(&changes, NULL),
	OPT_END,
};

TEST(settings_become_options_in_the_order_that_a_table_names_them)
{
	const struct opt *options = setting_options(table);
	const struct opt *const tables[] = { options, NULL };
	const struct opt *memory = opt_find(tables, "memory", strlen("memory"));
	const struct opt *ports = opt_find(tables, "ports", strlen("ports"));

	ASSERT_STR(options[0].name, "memory");
	ASSERT_STR(options[1].name, "offline");
	ASSERT_STR(options[2].name, "cni");
	ASSERT(options[2].to.flag == &early);
	ASSERT(setting_options(table) == options);
	ASSERT(!opt_find(tables, "static-ip", strlen("static-ip")));
	ASSERT_OK(opt_set(memory, "max", &err));
	ASSERT(wanted.memory_bytes == ALL_MEMORY);
	ASSERT_OK(opt_set(&options[1], "false", &err));
	ASSERT(!wanted.offline && wanted.given.offline && !wanted.given.keep_context);
	ASSERT_OK(opt_set(ports, "80,81", &err));
	ASSERT_INT(wanted.ports.count, 2);
	strlist_release(&wanted.ports);
}

TEST(only_some_settings_of_a_node_that_exists_can_change)
{
	const struct opt *const tables[] = { setting_options(change_table), NULL };
	const struct opt *label = opt_find(tables, "label", strlen("label"));

	ASSERT_STR(label->operand, "KEY=VALUE|KEY-");
	ASSERT(label->to.list == &changes.labels);
	ASSERT(opt_find(tables, "memory", strlen("memory")));
	ASSERT(!opt_find(tables, "mount", strlen("mount")));
	ASSERT_STR(opt_find(tables, "docker-env", strlen("docker-env"))->operand,
		   "NAME=VALUE|NAME-");
	ASSERT_STR(opt_find(tables, "registry-mirror", strlen("registry-mirror"))->operand,
		   "[REGISTRY=]URL|REGISTRY-");
}

static void assert_changed(const char *option, const char *before, const char *words,
			   const char *after)
{
	const struct setting *setting = setting_find(SETTING_OF_NODE, option);
	cleanup_with(strlist_release) struct strlist changed = STRLIST_INIT;
	cleanup_with(strlist_release) struct strlist list = STRLIST_INIT;
	cleanup_free char *joined = NULL;

	strlist_split(&list, before, ' ');
	strlist_split(&changed, words, ' ');
	ASSERT_OK(setting_change_words(setting, &list, &changed, &err));
	joined = strlist_join(&list, " ");
	ASSERT_STR(joined, after);
}

TEST(words_of_a_node_that_exists_are_added_and_removed)
{
	cleanup_with(strlist_release) struct strlist list = STRLIST_INIT;
	cleanup_with(strlist_release) struct strlist wrong = STRLIST_INIT;
	cleanup_with(error_clear) struct error why = ERROR_INIT;

	assert_changed("docker-opt", "debug dns=1.1.1.1", "dns=1.0.0.1 label=a-",
		       "debug dns=1.1.1.1 dns=1.0.0.1 label=a-");
	assert_changed("docker-opt", "debug dns=1.1.1.1 dns=1.0.0.1 dns-search=x", "dns- debug-",
		       "dns-search=x");
	assert_changed("docker-env", "A=1 B=2 AA=3", "A=5 B-", "AA=3 A=5");
	assert_changed("insecure-registry", "a:5000 a", "a- b", "a:5000 b");
	assert_changed("registry-mirror", "http://a quay.io=http://q",
		       "docker.io- quay.io=http://q/ http://b", "quay.io=http://q http://b");
	strlist_add(&wrong, "ftp://x");
	ASSERT_INT(setting_change_words(setting_find(SETTING_OF_NODE, "registry-mirror"), &list,
					&wrong, &why),
		   -EINVAL);
	ASSERT(strstr(why.text, "--registry-mirror: "));
}

TEST(tables_without_settings_stay_as_they_are)
{
	static const struct opt plain[] = { OPT_END };

	ASSERT(setting_options(plain) == plain);
	ASSERT(!setting_options(NULL));
}
