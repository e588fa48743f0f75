#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "balancer/balancer.h"
#include "base/clock.h"
#include "base/file.h"
#include "cluster/cluster.h"
#include "fake-files.h"
#include "fake-world.h"
#include "network/closing-ports.h"
#include "network/network.h"
#include "network/own-registry.h"
#include "network/published-ports.h"
#include "record/world.h"
#include "test.h"

static void make_profile(struct profile *ret)
{
	cleanup_free char *world_dir = xasprintf("%s/world", test_dir());

	ASSERT_OK(file_make_dirs(world_dir, 0700, &err));
	fake_world_use(world_dir, 0);
	*ret = (struct profile){
		.name = xstrdup("test"),
		.dir = xasprintf("%s/profiles/test", test_dir()),
		.subnet = xstrdup("192.0.2.0/24"),
		.gateway = xstrdup("192.0.2.1"),
		.pod_subnet = xstrdup("10.244.0.0/16"),
		.bridge = xstrdup("mktest"),
		.api_port = 16443,
		.registry_port = 5000,
	};
	ASSERT_OK(profile_save(ret, &err));
}

static int add(struct profile *profile, const char *words, struct error *err)
{
	cleanup_with(strlist_release) struct strlist list = STRLIST_INIT;

	strlist_split(&list, words, ' ');
	return published_ports_add(profile, &list, err);
}

static int take_away(struct profile *profile, const char *words, struct error *err)
{
	cleanup_with(strlist_release) struct strlist list = STRLIST_INIT;

	strlist_split(&list, words, ' ');
	return published_ports_remove(profile, &list, err);
}

/* The ports of PROFILE, which are also those on disk. */
static void assert_ports(const struct profile *profile, const char *want)
{
	cleanup_free char *path = xasprintf("%s/profile.json", profile->dir);
	cleanup_free char *has = strlist_join(&profile->ports, " ");
	cleanup_with(profile_release) struct profile kept = PROFILE_INIT;
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_free char *on_disk = NULL;

	ASSERT_STR(has, want);
	ASSERT_OK(file_read(path, 65536, &text, &err));
	ASSERT_OK(profile_parse(text.text, text.len, &kept, &err));
	on_disk = strlist_join(&kept.ports, " ");
	ASSERT_STR(on_disk, want);
}

TEST(ports_are_added_once_and_removed_by_their_number)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;

	make_profile(&profile);
	ASSERT_INT(add(&profile, "8080:30080 0.0.0.0:9090", NULL), 2);
	assert_ports(&profile, "8080:30080 0.0.0.0:9090");
	/* The same in another spelling. */
	ASSERT_INT(add(&profile, "127.0.0.1:8080:30080/tcp 7070", NULL), 1);
	assert_ports(&profile, "8080:30080 0.0.0.0:9090 7070");
	ASSERT_INT(take_away(&profile, "8080 0.0.0.0:9090:9090", NULL), 0);
	assert_ports(&profile, "7070");
}

TEST(nothing_is_changed_if_one_of_several_ports_cannot_be)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_with(error_clear) struct error why = ERROR_INIT;

	make_profile(&profile);
	ASSERT_INT(add(&profile, "8080:30080", NULL), 1);
	ASSERT_INT(add(&profile, "7070 8080:30081", &why), -EADDRINUSE);
	ASSERT(why.reason == &reason_port_taken && strstr(why.text, "8080:30080"));
	error_clear(&why);
	ASSERT_INT(take_away(&profile, "8080 7070", &why), -ENOENT);
	ASSERT(why.reason == &reason_usage && strstr(why.text, "7070"));
	/* At another address, it is another port. */
	ASSERT_INT(take_away(&profile, "0.0.0.0:8080", NULL), -ENOENT);
	assert_ports(&profile, "8080:30080");
}

TEST(who_removes_a_port_of_another_address_is_told_its_full_form)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_with(error_clear) struct error why = ERROR_INIT;

	make_profile(&profile);
	ASSERT_INT(add(&profile, "127.0.0.2:18082:30080 7070", NULL), 2);
	ASSERT_INT(take_away(&profile, "18082", &why), -ENOENT);
	ASSERT(strstr(why.hint, "'manykube port remove 127.0.0.2:18082'"));
	ASSERT_INT(take_away(&profile, "127.0.0.2:18082", NULL), 0);
	error_clear(&why);
	ASSERT_INT(take_away(&profile, "18082", &why), -ENOENT);
	ASSERT(strstr(why.hint, "port list"));
}

TEST(ports_of_the_cluster_itself_cannot_be_published_whether_it_runs_or_not)
{
	static const char *const words[] = { "16443:80", "0.0.0.0:16443:80", "5000", "0.0.0.0:53",
					     "192.0.2.1:6443:80" };
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;

	make_profile(&profile);
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		ASSERT_INT(add(&profile, words[i], NULL), -EADDRINUSE);
	ASSERT_INT(add(&profile, "127.0.0.1:6443:80 198.51.100.7:5000:80", NULL), 2);
}

TEST(words_that_cannot_all_be_published_are_refused_before_anything_is_done)
{
	static const char *const wrong[] = { "8080:30080 8080:30081", "8080 127.0.0.1:8080:80",
					     "7070 16443:80" };
	static const char *const right[] = { "8080:30080 127.0.0.1:8080:30080",
					     "8080 0.0.0.0:8081 9090:8080" };
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;

	make_profile(&profile);
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		cleanup_with(strlist_release) struct strlist list = STRLIST_INIT;
		cleanup_with(error_clear) struct error why = ERROR_INIT;

		strlist_split(&list, wrong[i], ' ');
		ASSERT_INT(published_ports_check(&profile, &list, &why), -EADDRINUSE);
		ASSERT(why.reason == &reason_port_taken && strstr(why.text, list.items[1]));
		ASSERT(!strstr(why.hint, "stop the program"));
	}
	for (size_t i = 0; i < ARRAY_SIZE(right); i++) {
		cleanup_with(strlist_release) struct strlist list = STRLIST_INIT;

		strlist_split(&list, right[i], ' ');
		ASSERT_OK(published_ports_check(&profile, &list, &err));
	}
}

/* A front door that has one port, of the test itself. */
static int door = -1;
static unsigned door_port;

static bool is_closed(void)
{
	return network_port_is_free((struct in_addr){ htonl(INADDR_LOOPBACK) }, door_port);
}

static int close_port(arg_unused const struct profile *profile, arg_unused struct error *problem)
{
	(void)close(take_fd(door));
	return 0;
}

static bool rules_went_last;

static int change_rules(arg_unused const struct profile *profile, arg_unused struct error *problem)
{
	rules_went_last = is_closed();
	return 0;
}

/* Be the front door of PROFILE, which has a port that is open. */
static void be_the_front_door(const struct profile *profile, int *ret_lock)
{
	static struct world own;
	cleanup_free char *lock = xasprintf("%s/front-door.lock", profile->dir);
	cleanup_with(balancer_config_release) struct balancer_config config = BALANCER_CONFIG_INIT;
	struct sockaddr_in name = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	socklen_t len = sizeof(name);

	ASSERT_INT(file_lock_private(lock, "front-door", 0, ret_lock, NULL), 0);
	door = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ASSERT_INT(bind(door, (struct sockaddr *)&name, len), 0);
	ASSERT_INT(listen(door, 1), 0);
	ASSERT_INT(getsockname(door, (struct sockaddr *)&name, &len), 0);
	door_port = ntohs(name.sin_port);
	balancer_config_add_forward(&config)->listen = xasprintf("127.0.0.1:%u", door_port);
	ASSERT_OK(balancer_configure(profile->dir, &config, &err));
	own = *world;
	own.front_door_up = close_port;
	own.network_up = change_rules;
	world = &own;
}

TEST(the_rules_for_a_port_go_when_it_is_closed)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_free char *word = NULL;
	cleanup_fd int lock = -1;

	make_profile(&profile);
	be_the_front_door(&profile, &lock);
	word = xasprintf("%u", door_port);
	strlist_add(&profile.ports, word);
	ASSERT_OK(profile_save(&profile, &err));
	ASSERT_INT(take_away(&profile, word, NULL), 0);
	ASSERT(is_closed() && rules_went_last);
	assert_ports(&profile, "");
}

TEST(an_interrupted_removal_is_completed_by_the_same_command)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	cleanup_free char *word = NULL;
	cleanup_fd int lock = -1;

	make_profile(&profile);
	be_the_front_door(&profile, &lock);
	word = xasprintf("%u", door_port);
	ASSERT_INT(take_away(&profile, "1", &why), -ENOENT);
	ASSERT(!is_closed());
	/* Not in the record any more, but open. */
	ASSERT_INT(take_away(&profile, word, NULL), 0);
	ASSERT(is_closed() && rules_went_last);
}

/* A front door that takes a moment to close its port. */
static int close_port_late(arg_unused const struct profile *profile,
			   arg_unused struct error *problem)
{
	cleanup_with(balancer_config_release) struct balancer_config config = BALANCER_CONFIG_INIT;

	ASSERT_OK(balancer_configure(profile->dir, &config, &err));
	if (door >= 0 && fork() == 0) {
		(void)poll(NULL, 0, 300);
		_exit(0);
	}
	if (door >= 0)
		(void)close(take_fd(door));
	return 0;
}

static bool was_exposed;

static int look_at_rules(const struct profile *profile, arg_unused struct error *problem)
{
	cleanup_free char *rules = network_rules(profile);
	cleanup_free char *number = xasprintf("%u", door_port);

	was_exposed |= !is_closed() && !strstr(rules, number);
	rules_went_last = !strstr(rules, number) && is_closed();
	return 0;
}

static void use_late_door(void)
{
	static struct world own;

	own = *world;
	own.front_door_up = close_port_late;
	own.network_up = look_at_rules;
	world = &own;
}

/* A cluster of one node that runs in a home of this test. */
static int start_one(void)
{
	static const struct cluster_options options = { .nodes = 1,
							.kubernetes_version = "v1.36.3",
							.wait_seconds = 20 };
	struct cluster_outcome outcome;

	return cluster_start("test", &options, NULL, &outcome, NULL);
}

static void make_cluster(struct profile *ret)
{
	cleanup_free char *home = xasprintf("%s/home", test_dir());
	cleanup_free char *world_dir = xasprintf("%s/world", test_dir());

	ASSERT_INT(setenv("MANYKUBE_HOME", home, 1), 0);
	ASSERT_OK(file_make_dirs(world_dir, 0700, &err));
	fake_world_use(world_dir, 0);
	ASSERT_INT(start_one(), 0);
	ASSERT_OK(profile_load("test", ret, &err));
}

TEST(a_start_closes_a_port_that_the_record_has_no_more_before_its_rules_go)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_fd int lock = -1;

	make_cluster(&profile);
	be_the_front_door(&profile, &lock);
	use_late_door();
	ASSERT_INT(start_one(), 0);
	ASSERT(is_closed() && !was_exposed && rules_went_last);
}

/* Have the front door say that its port is that of a registry. */
static void be_the_registry(const struct profile *profile)
{
	cleanup_with(balancer_config_release) struct balancer_config config = BALANCER_CONFIG_INIT;
	cleanup_free char *path = xasprintf("%s/front-door.status.json", profile->dir);
	cleanup_free char *text = xasprintf("{\"pid\": %d, \"registryListens\": "
					    "[\"127.0.0.1:%u\", \"%s:%u\"]}",
					    (int)getpid(), door_port, profile->gateway, door_port);

	ASSERT_OK(balancer_configure(profile->dir, &config, &err));
	ASSERT_OK(file_put(path, text, strlen(text), 0644, &err));
	use_late_door();
}

TEST(an_interrupted_end_of_the_registry_is_completed_by_the_same_command)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_fd int lock = -1;

	make_profile(&profile);
	be_the_front_door(&profile, &lock);
	/* Not in the record any more, but open. */
	profile.registry_port = 0;
	ASSERT_OK(profile_save(&profile, &err));
	be_the_registry(&profile);
	ASSERT_INT(balancer_registry_port(profile.dir), door_port);
	ASSERT_INT(own_registry_disable(&profile, false, NULL), 0);
	ASSERT(is_closed() && rules_went_last);
}

TEST(a_start_closes_a_registry_that_the_record_has_no_more_before_its_rules_go)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_with(closing_ports_release) struct closing_ports closing = CLOSING_PORTS_INIT;
	cleanup_fd int lock = -1;

	make_profile(&profile);
	be_the_front_door(&profile, &lock);
	profile.registry_port = 0;
	be_the_registry(&profile);
	closing_ports_find(&profile, &closing);
	ASSERT_INT(closing.registry, door_port);
	ASSERT_OK(closing_ports_begin(&profile, &closing, &err));
	ASSERT(!was_exposed && !rules_went_last);
	ASSERT_OK(close_port_late(&profile, &err));
	ASSERT_OK(closing_ports_end(&profile, &closing, &err));
	ASSERT(is_closed() && !was_exposed && rules_went_last);
}

/* Make a registry's program in a cache of this test. */
static void fill_cache(void)
{
	cleanup_free char *cache = xasprintf("%s/cache", test_dir());
	cleanup_free char *dir = xasprintf("%s/registry-v3.1.2/bin", cache);
	cleanup_free char *path = xasprintf("%s/registry", dir);

	ASSERT_OK(file_make_dirs(dir, 0755, &err));
	ASSERT_OK(file_put(path, "", 0, 0755, &err));
	ASSERT_INT(setenv("MANYKUBE_CACHE", cache, 1), 0);
}

TEST(no_node_is_led_to_a_registry_that_the_front_door_does_not_hold)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_free char *relay = NULL;
	cleanup_fd int lock = -1;
	int64_t deadline;

	make_cluster(&profile);
	fill_cache();
	be_the_front_door(&profile, &lock);
	relay = fake_files_path("node-1", "/etc/manykube/registry");
	profile.registry_port = door_port;
	ASSERT_OK(profile_save(&profile, &err));
	be_the_registry(&profile);
	ASSERT_INT(start_one(), 0);
	ASSERT(file_exists(relay));
	(void)close(take_fd(lock));
	deadline = clock_now_ms() + 5000;
	while (balancer_pid(profile.dir) != 0)
		ASSERT(clock_poll(deadline, 20));
	ASSERT_INT(start_one(), 0);
	ASSERT(!file_exists(relay));
}
