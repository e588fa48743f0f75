#include <sys/stat.h>

#include <sys/wait.h>

#include "base/clock.h"
#include "base/file.h"
#include "data/settings.h"
#include "record/profile.h"
#include "test.h"

static void use_fresh_home(void)
{
	ASSERT_INT(setenv("MANYKUBE_HOME", test_dir(), 1), 0);
}

static int parse(const char *text, struct error *err)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;

	return profile_parse(text, strlen(text), &profile, err);
}

static void make_profile(const char *name, struct profile *profile)
{
	struct node *node;

	*profile = PROFILE_INIT;
	profile->name = xstrdup(name);
	ASSERT_OK(profile_dir(name, &profile->dir, &err));
	profile->kubernetes_version = xstrdup("v1.36.3");
	profile->subnet = xstrdup("192.168.39.0/24");
	profile->offline = true;
	profile->embed_certs = true;
	profile->api_port = 41234;
	profile->memory_bytes = 1ull << 40;
	profile->disk_bytes = 3ull << 40;
	profile->base_image = xstrdup("/srv/base");
	profile->created = 1790000000;
	node = profile_add_node(profile, "node-1");
	node->control_plane = true;
	node->primary = true;
	node->phase = NODE_JOINED;
	node->address = xstrdup("192.168.39.2");
	node = profile_add_node(profile, "node-2");
	node->worker = true;
	node->cpus = 4;
	node->disk_bytes = 5ull << 30;
	node->base_image = xstrdup("/srv/other.tar");
}

TEST(what_was_saved_is_loaded)
{
	cleanup_with(profile_release) struct profile saved = PROFILE_INIT;
	cleanup_with(profile_release) struct profile loaded = PROFILE_INIT;

	use_fresh_home();
	make_profile("dev", &saved);
	ASSERT_OK(profile_save(&saved, &err));
	ASSERT_OK(profile_load("dev", &loaded, &err));
	ASSERT_STR(loaded.name, "dev");
	ASSERT_STR(loaded.dir, saved.dir);
	ASSERT_STR(loaded.kubernetes_version, "v1.36.3");
	ASSERT(!loaded.gateway);
	ASSERT(loaded.offline);
	ASSERT(loaded.embed_certs);
	ASSERT(!loaded.keep_context);
	ASSERT_INT(loaded.api_port, 41234);
	ASSERT_INT(loaded.memory_bytes, 1ll << 40);
	ASSERT_INT(loaded.disk_bytes, 3ll << 40);
	ASSERT_STR(loaded.base_image, "/srv/base");
	ASSERT_INT(loaded.created, 1790000000);
	ASSERT_INT(loaded.node_count, 2);
	ASSERT_INT(loaded.nodes[0].phase, NODE_JOINED);
	ASSERT_STR(loaded.nodes[0].address, "192.168.39.2");
	ASSERT_STR(profile_primary(&loaded)->name, "node-1");
	ASSERT_INT(profile_find_node(&loaded, "node-2")->cpus, 4);
	ASSERT_INT(profile_find_node(&loaded, "node-2")->disk_bytes, 5ll << 30);
	ASSERT_STR(profile_find_node(&loaded, "node-2")->base_image, "/srv/other.tar");
	ASSERT(!profile_find_node(&loaded, "node-1")->base_image);
	ASSERT(!profile_find_node(&loaded, "node-3"));
}

TEST(a_missing_cluster_is_named)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_with(error_clear) struct error why = ERROR_INIT;

	use_fresh_home();
	ASSERT_INT(profile_load("nowhere", &profile, &why), -ENOENT);
	ASSERT_STR(why.text, "there is no cluster 'nowhere'");
	ASSERT(why.reason == &reason_cluster_missing);
	ASSERT(!why.hint);
}

TEST(who_means_another_cluster_is_told_its_name)
{
	cleanup_with(profile_release) struct profile saved = PROFILE_INIT;
	cleanup_with(profile_release) struct profile another = PROFILE_INIT;
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_with(error_clear) struct error why = ERROR_INIT;

	use_fresh_home();
	make_profile("dev", &saved);
	ASSERT_OK(profile_save(&saved, &err));
	ASSERT_INT(profile_load("manykube", &profile, &why), -ENOENT);
	ASSERT_STR(why.hint, "there is a cluster 'dev': '-p dev' chooses it");
	make_profile("two", &another);
	ASSERT_OK(profile_save(&another, &err));
	error_clear(&why);
	ASSERT_INT(profile_load("manykube", &profile, &why), -ENOENT);
	ASSERT_STR(why.hint, "existing clusters: dev, two; '-p NAME' chooses one");
}

TEST(names_that_could_leave_the_dir_are_refused)
{
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	const char *const bad[] = { "",    "..",  "a/b",
				    "A",   "-a",  "a-",
				    "a.b", "a b", "a2345678901234567890123456789012345678901" };

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		ASSERT_INT(profile_check_name(bad[i], &why), -EINVAL);
	ASSERT(why.reason == &reason_usage);
	ASSERT_INT(profile_check_name("a234567890123456789012345678901234567890", NULL), 0);
}

TEST(errors_name_the_key)
{
	cleanup_with(error_clear) struct error why = ERROR_INIT;

	ASSERT_INT(parse("{\"format\": 1, \"name\": \"x\", \"subnet\": 5}", &why), -EBADMSG);
	ASSERT_STR(why.text, "'subnet' is not a string");
	ASSERT_INT(parse("{\"format\": 1, \"name\": \"x\", \"cpus\": -1}", &why), -EBADMSG);
	ASSERT_STR(why.text, "'cpus' is not in the range of its type");
	ASSERT_INT(parse("{\"format\": 1, \"name\": \"x\", \"cpus\": 1.5}", &why), -EBADMSG);
	ASSERT_STR(why.text, "'cpus' is not a whole number");
	ASSERT_INT(parse("{\"format\": 1, \"name\": \"x\", \"name\": \"y\"}", &why), -EBADMSG);
	ASSERT_INT(parse("{\"format\": 1}", &why), -EBADMSG);
	ASSERT_STR(why.text, "'name' is missing or not a valid name of a cluster");
	ASSERT_INT(parse("{\"format\": 1, \"name\": \"x\", \"nodes\": [{\"name\": \"a\", "
			 "\"phase\": \"lost\"}]}",
			 &why),
		   -EBADMSG);
	ASSERT_STR(why.text, "nodes[0]: 'phase': 'lost' is not a phase of a node");
	ASSERT_INT(
		parse("{\"format\": 1, \"name\": \"x\", \"nodes\": [{\"name\": \"../x\"}]}", &why),
		-EBADMSG);
	ASSERT_INT(parse("{\"format\": 1, \"name\": \"x\", \"nodes\": [{\"name\": \"a\"}, "
			 "{\"name\": \"a\"}]}",
			 &why),
		   -EBADMSG);
	ASSERT_STR(why.text, "nodes[1]: the name 'a' is used twice");
	ASSERT_INT(parse("[]", &why), -EBADMSG);
	ASSERT_INT(parse("", &why), -EBADMSG);
}

/* A program that does not know of IPv6 would write the record without it. */
TEST(only_a_record_with_ipv6_has_a_newer_format)
{
	cleanup_with(profile_release) struct profile saved = PROFILE_INIT;
	cleanup_with(profile_release) struct profile loaded = PROFILE_INIT;
	cleanup_free char *plain = NULL;
	cleanup_free char *dual = NULL;

	use_fresh_home();
	make_profile("dev", &saved);
	plain = profile_print(&saved);
	ASSERT(strstr(plain, "\"format\": 1,") && !strstr(plain, "6\":"));
	saved.ipv6_prefix = xstrdup("fd12:3456:789a::/48");
	saved.nodes[0].address6 = xstrdup("fd12:3456:789a::2");
	saved.nodes[0].pod_cidr6 = xstrdup("fd12:3456:789a:102::/64");
	dual = profile_print(&saved);
	ASSERT(strstr(dual, "\"format\": 2,"));
	ASSERT_OK(profile_parse(dual, strlen(dual), &loaded, &err));
	ASSERT_STR(loaded.ipv6_prefix, "fd12:3456:789a::/48");
	ASSERT_STR(loaded.nodes[0].address6, "fd12:3456:789a::2");
	ASSERT_STR(loaded.nodes[0].pod_cidr6, "fd12:3456:789a:102::/64");
	ASSERT(!loaded.nodes[1].address6);
}

TEST(a_newer_format_is_refused_by_its_number)
{
	cleanup_with(error_clear) struct error why = ERROR_INIT;

	ASSERT_INT(parse("{\"format\": 3, \"name\": \"x\"}", &why), -ENOTSUP);
	ASSERT_STR(why.text, "its format is 3, but this manykube (v" MANYKUBE_VERSION
			     ") supports formats up to 2");
	ASSERT(why.reason == &reason_host_config);
}

#define SINGLE                                                                            \
	"{\"name\": \"dev\", \"kubernetesVersion\": \"v1.36.3\", \"subnet\": "            \
	"\"192.168.39.0/24\", \"gateway\": \"192.168.39.1\", \"bridge\": \"mk1\", "       \
	"\"podSubnet\": \"10.244.0.0/16\", \"apiPort\": 16443, \"cpus\": 2, \"labels\": " \
	"[\"a=b\"], \"address\": \"192.168.39.2\", \"podCidr\": \"10.244.0.0/24\""

TEST(a_profile_of_the_single_node_format_has_one_primary_control_plane)
{
	static const char *const texts[] = { SINGLE ", \"joined\": true}",
					     SINGLE ", \"joined\": true, \"format\": 0}" };

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
		const struct node *node;

		ASSERT_OK(profile_parse(texts[i], strlen(texts[i]), &profile, &err));
		ASSERT_STR(profile.name, "dev");
		ASSERT_STR(profile.subnet, "192.168.39.0/24");
		ASSERT_INT(profile.cpus, 2);
		ASSERT_INT(profile.node_count, 1);
		node = profile_primary(&profile);
		ASSERT_STR(node->name, "node-1");
		ASSERT(node->control_plane && node->worker);
		ASSERT_INT(node->phase, NODE_JOINED);
		ASSERT_STR(node->driver, "native");
		ASSERT_STR(profile.cni, "auto");
		ASSERT_STR(profile.dns_domain, "cluster.local");
		ASSERT_STR(profile.service_subnet, "10.96.0.0/12");
		ASSERT_STR(node->address, "192.168.39.2");
		ASSERT_STR(node->pod_cidr, "10.244.0.0/24");
		ASSERT_STR(node->kubernetes_version, "v1.36.3");
		ASSERT_INT(node->cpus, 2);
		ASSERT(strlist_has(&node->labels, "a=b"));
	}
}

TEST(a_copy_has_everything_of_its_original)
{
	static const char text[] = SINGLE ", \"joined\": true}";
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_with(profile_release) struct profile copy = PROFILE_INIT;
	cleanup_free char *printed = NULL;
	cleanup_free char *again = NULL;

	ASSERT_OK(profile_parse(text, strlen(text), &profile, &err));
	profile.dir = xstrdup("/there");
	ASSERT_OK(profile_copy(&profile, &copy, &err));
	printed = profile_print(&profile);
	again = profile_print(&copy);
	ASSERT_STR(again, printed);
	ASSERT_STR(copy.dir, "/there");
	/* So that the record is kept when it is written in the new format. */
	ASSERT(profile.single_node_format && copy.single_node_format);
}

TEST(the_node_of_the_single_node_format_may_have_a_name_and_a_phase)
{
	static const char text[] = SINGLE ", \"nodeName\": \"main\", \"phase\": \"leaving\"}";
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;

	ASSERT_OK(profile_parse(text, strlen(text), &profile, &err));
	ASSERT_STR(profile_primary(&profile)->name, "main");
	ASSERT_INT(profile_primary(&profile)->phase, NODE_LEAVING);
}

TEST(half_a_profile_is_not_taken_for_one_of_the_single_node_format)
{
	cleanup_with(error_clear) struct error why = ERROR_INIT;

	ASSERT_INT(parse("{\"name\": \"x\"}", &why), -EBADMSG);
	ASSERT_STR(why.text, "'format' is missing, and 'kubernetesVersion' is not a string");
	ASSERT_INT(parse("{\"name\": \"x\", \"nodes\": []}", &why), -EBADMSG);
	ASSERT_STR(why.text, "it has no 'format', so it was not written by manykube");
	ASSERT_INT(parse(SINGLE ", \"format\": 0, \"nodes\": []}", &why), -EBADMSG);
	ASSERT_STR(why.text, "'format' is 0, but it has 'nodes'");
	ASSERT_INT(parse(SINGLE ", \"format\": -1}", &why), -EBADMSG);
	ASSERT_STR(why.text, "'format' is not a whole number of at least 0");
	ASSERT_INT(parse(SINGLE ", \"nodeName\": \"../x\"}", &why), -EBADMSG);
	ASSERT_INT(parse(SINGLE ", \"nodeName\": 5}", &why), -EBADMSG);
	ASSERT_STR(why.text, "'nodeName' is not a string");
}

TEST(the_old_file_changes_with_the_next_save_and_is_kept_as_it_was_first)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_free char *path = NULL;
	cleanup_free char *kept = NULL;
	static const char other[] = SINGLE ", \"cni\": \"none\"}";

	use_fresh_home();
	make_profile("dev", &profile);
	ASSERT_OK(profile_save(&profile, &err));
	path = xasprintf("%s/profile.json", profile.dir);
	kept = xasprintf("%s.v0", path);
	ASSERT(!file_exists(kept));
	profile_release(&profile);

	ASSERT_OK(file_replace(path, SINGLE "}", strlen(SINGLE "}"), 0644, &err));
	ASSERT_OK(profile_load("dev", &profile, &err));
	ASSERT(!file_exists(kept));
	ASSERT_OK(file_read(path, 1000, &text, &err));
	ASSERT_STR(text.text, SINGLE "}");
	ASSERT_OK(profile_save(&profile, &err));
	ASSERT_OK(profile_save(&profile, &err));
	profile_release(&profile);

	/* The next one finds it taken. */
	ASSERT_OK(file_replace(path, other, strlen(other), 0644, &err));
	ASSERT_OK(profile_load("dev", &profile, &err));
	ASSERT_OK(profile_save(&profile, &err));
	strbuf_release(&text);
	ASSERT_OK(file_read(kept, 1000, &text, &err));
	ASSERT_STR(text.text, SINGLE "}");
	strbuf_release(&text);
	ASSERT_OK(file_read(path, 10000, &text, &err));
	ASSERT(strstr(text.text, "\"format\": 1"));
}

TEST(unknown_keys_are_ignored)
{
	ASSERT_OK(parse("{\"format\": 1, \"name\": \"x\", \"colour\": null}", &err));
}

TEST(a_damaged_file_is_named_and_kept)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_with(profile_release) struct profile loaded = PROFILE_INIT;
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_free char *path = NULL;
	cleanup_free char *copy = NULL;
	cleanup_free char *command = NULL;

	use_fresh_home();
	make_profile("dev", &profile);
	ASSERT_OK(profile_save(&profile, &err));
	path = xasprintf("%s/profile.json", profile.dir);
	ASSERT_OK(file_replace(path, "{ torn", 6, 0644, &err));
	ASSERT_INT(profile_load("dev", &loaded, &why), -EBADMSG);
	ASSERT(strstr(why.text, path));
	ASSERT(strstr(why.text, "line 1"));
	command = xasprintf("its copy is whole; restore it as root: 'cp %s.copy %s'", path, path);
	ASSERT_STR(why.hint, command);
	ASSERT(why.reason == &reason_host_config);
	ASSERT_OK(file_read(path, 100, &text, &err));
	ASSERT_STR(text.text, "{ torn");
	/* A copy that is no better is not suggested. */
	copy = xasprintf("%s.copy", path);
	ASSERT_OK(file_replace(copy, "", 0, 0644, &err));
	ASSERT_INT(profile_load("dev", &loaded, &why), -EBADMSG);
	ASSERT(strstr(why.hint, "correct the file"));
}

TEST(nodes_without_their_record_are_no_new_cluster)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_with(profile_release) struct profile loaded = PROFILE_INIT;
	cleanup_with(error_clear) struct error missing = ERROR_INIT;
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	cleanup_free char *path = NULL;
	cleanup_free char *copy = NULL;
	cleanup_free char *node = NULL;

	use_fresh_home();
	make_profile("dev", &profile);
	ASSERT_OK(profile_save(&profile, &err));
	path = xasprintf("%s/profile.json", profile.dir);
	copy = xasprintf("%s.copy", path);
	node = xasprintf("%s/nodes/node-1", profile.dir);
	ASSERT_INT(unlink(path), 0);
	/* The end of a delete that was interrupted. */
	ASSERT_INT(profile_load("dev", &loaded, &missing), -ENOENT);
	ASSERT_OK(file_make_dirs(node, 0755, &err));
	ASSERT_OK(profile_load("dev", &loaded, &err));
	ASSERT_INT(loaded.node_count, 2);
	ASSERT_OK(profile_list(&names, &err));
	ASSERT_INT(names.count, 1);
	profile_release(&loaded);
	ASSERT_INT(unlink(copy), 0);
	ASSERT_INT(profile_load("dev", &loaded, &why), -EBADMSG);
	ASSERT(strstr(why.text, path));
	ASSERT(strstr(why.text, "cluster 'dev' has 1 node"));
	ASSERT(why.reason == &reason_host_config);
}

TEST(lists_what_has_a_record_sorted)
{
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	cleanup_with(profile_release) struct profile one = PROFILE_INIT;
	cleanup_with(profile_release) struct profile two = PROFILE_INIT;
	int fd = -1;

	use_fresh_home();
	ASSERT_OK(profile_list(&names, &err));
	ASSERT_INT(names.count, 0);
	make_profile("two", &two);
	ASSERT_OK(profile_save(&two, &err));
	make_profile("one", &one);
	ASSERT_OK(profile_save(&one, &err));
	ASSERT_OK(profile_lock("only-a-lock", "start", &fd, &err));
	ASSERT_OK(profile_list(&names, &err));
	ASSERT_INT(names.count, 2);
	ASSERT_STR(names.items[0], "one");
	ASSERT_STR(names.items[1], "two");
}

TEST(a_lock_names_its_holder)
{
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	cleanup_fd int first = -1;
	cleanup_fd int second = -1;

	use_fresh_home();
	ASSERT_OK(profile_lock("dev", "manykube start", &first, &err));
	ASSERT_INT(profile_lock("dev", "manykube delete", &second, &why), -EWOULDBLOCK);
	ASSERT(why.reason == &reason_busy);
	ASSERT(strstr(why.text, "manykube start"));
	ASSERT(strstr(why.text, "'dev'"));
}

TEST(a_missing_node_is_named)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	struct node *node = NULL;

	use_fresh_home();
	make_profile("dev", &profile);
	ASSERT_OK(profile_need_node(&profile, "node-2", &node, &err));
	ASSERT_STR(node->name, "node-2");
	ASSERT_INT(profile_need_node(&profile, "node-9", &node, &why), -ENOENT);
	ASSERT_STR(why.text, "cluster 'dev' has no node 'node-9'");
	ASSERT(why.reason == &reason_node_missing);
}

TEST(a_lock_that_only_the_children_of_a_dead_command_hold_is_waited_for)
{
	int fd = -1;
	int status;
	pid_t pid;

	ASSERT(setenv("MANYKUBE_HOME", test_dir(), 1) == 0);
	pid = fork();
	if (pid == 0) {
		ASSERT_OK(profile_lock("dev", "start", &fd, &err));
		if (fork() == 0)
			clock_rest_ms(300);
		_exit(0);
	}
	ASSERT(waitpid(pid, &status, 0) == pid && status == 0);
	ASSERT_OK(profile_lock("dev", "delete", &fd, &err));
	(void)close(fd);
}

TEST(a_lock_that_a_living_command_holds_is_refused_at_once)
{
	cleanup_with(error_clear) struct error err = ERROR_INIT;
	int64_t began = clock_now_ms();
	int fd = -1;
	int other = -1;

	ASSERT(setenv("MANYKUBE_HOME", test_dir(), 1) == 0);
	ASSERT_INT(profile_lock("dev", "start", &fd, NULL), 0);
	ASSERT_INT(profile_lock("dev", "delete", &other, &err), -EWOULDBLOCK);
	ASSERT(err.reason == &reason_busy);
	/* Far below the time that a dead command's lock is waited for. */
	ASSERT(clock_now_ms() - began < 2500);
	(void)close(fd);
}

static void assert_active(const char *name)
{
	cleanup_with(settings_release) struct settings settings = SETTINGS_INIT;
	const char *active;

	ASSERT_OK(settings_load(&settings, &err));
	active = settings_get(&settings, SETTING_PROFILE);
	ASSERT(!active == !name && (!name || strcmp(active, name) == 0));
}

TEST(only_a_cluster_that_exists_can_be_the_active_one)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_with(error_clear) struct error why = ERROR_INIT;

	use_fresh_home();
	ASSERT_INT(profile_set_active("dev", &why), -ENOENT);
	ASSERT_STR(why.hint, "there are no clusters yet: 'manykube start -p dev' creates it");
	make_profile("dev", &profile);
	ASSERT_OK(profile_save(&profile, &err));
	ASSERT_OK(profile_set_active("dev", &err));
	ASSERT_INT(profile_set_active("other", &why), -ENOENT);
	ASSERT(why.reason == &reason_cluster_missing);
	ASSERT_STR(why.hint, "existing clusters: dev");
	assert_active("dev");
}

TEST(only_the_active_profile_is_forgotten)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;

	use_fresh_home();
	make_profile("dev", &profile);
	ASSERT_OK(profile_save(&profile, &err));
	ASSERT_OK(profile_set_active("dev", &err));
	ASSERT_OK(profile_forget_active("other", &err));
	assert_active("dev");
	ASSERT_OK(profile_forget_active("dev", &err));
	assert_active(NULL);
}

TEST(only_its_owner_reads_a_record_with_variables)
{
	cleanup_with(profile_release) struct profile profile = { .name = xstrdup("one") };
	struct node *node = profile_add_node(&profile, "node-1");
	cleanup_free char *path = xasprintf("%s/one/profile.json", test_dir());
	struct stat st;

	profile.dir = xasprintf("%s/one", test_dir());
	ASSERT_OK(profile_save(&profile, &err));
	ASSERT_INT(stat(path, &st), 0);
	ASSERT_INT(st.st_mode & 07777, 0644);
	strlist_add(&node->env, "HTTP_PROXY=http://me:secret@proxy");
	ASSERT_OK(profile_save(&profile, &err));
	ASSERT_INT(stat(path, &st), 0);
	ASSERT_INT(st.st_mode & 07777, 0600);
}
