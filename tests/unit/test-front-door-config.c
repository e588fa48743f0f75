#include <stdlib.h>

#include "base/file.h"
#include "network/front-door-config.h"
#include "test.h"

static struct node nodes[] = {
	{ .name = (char *)"w1",
	  .address = (char *)"10.89.0.4",
	  .pod_cidr = (char *)"10.244.2.0/24",
	  .worker = true,
	  .phase = NODE_JOINED },
	{ .name = (char *)"cp1",
	  .address = (char *)"10.89.0.2",
	  .pod_cidr = (char *)"10.244.0.0/24",
	  .control_plane = true,
	  .primary = true,
	  .phase = NODE_JOINED },
	{ .name = (char *)"cp2",
	  .address = (char *)"10.89.0.3",
	  .pod_cidr = (char *)"10.244.1.0/24",
	  .control_plane = true,
	  .phase = NODE_JOINED },
};

static struct profile profile = {
	.name = (char *)"p",
	.bridge = (char *)"mk00000001",
	.gateway = (char *)"10.89.0.1",
	.subnet = (char *)"10.89.0.0/24",
	.pod_subnet = (char *)"10.244.0.0/16",
	.api_port = 41234,
	.nodes = nodes,
	.node_count = ARRAY_SIZE(nodes),
};

static struct balancer_config config;

static void make(const struct strlist *without)
{
	balancer_config_release(&config);
	ASSERT_OK(front_door_config(&profile, without, "nameserver 192.0.2.53\n", &config, &err));
}

static void assert_list(const struct strlist *list, const char *wanted)
{
	cleanup_free char *text = strlist_join(list, " ");

	ASSERT_STR(text, wanted);
}

/* The names of the control planes that it leads to. */
static void assert_backends(const char *wanted)
{
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;

	for (size_t i = 0; i < config.backend_count; i++)
		strlist_addf(&names, "%s=%s", config.backends[i].name, config.backends[i].address);
	assert_list(&names, wanted);
}

TEST(it_listens_for_nodes_and_for_the_host)
{
	make(NULL);
	assert_list(&config.listen, "10.89.0.1:6443 127.0.0.1:41234");
	ASSERT_STR(config.bridge, "mk00000001");
	assert_list(&config.networks, "10.89.0.0/24 10.244.0.0/16");
	ASSERT_INT(config.origin_count, 3);
	ASSERT_STR(config.origins[1].address, "10.89.0.2");
	ASSERT_STR(config.origins[1].pods, "10.244.0.0/24");
}

/* Make a program in a cache of this test. */
static void fill_cache(void)
{
	cleanup_free char *dir = xasprintf("%s/registry-v3.1.2/bin", test_dir());
	cleanup_free char *path = xasprintf("%s/registry", dir);

	ASSERT_OK(file_make_dirs(dir, 0755, &err));
	ASSERT_OK(file_put(path, "", 0, 0755, &err));
}

TEST(a_registry_listens_for_the_host_and_for_nodes)
{
	cleanup_free char *program = xasprintf("%s/registry-v3.1.2/bin/registry", test_dir());

	ASSERT_INT(setenv("MANYKUBE_CACHE", test_dir(), 1), 0);
	fill_cache();
	make(NULL);
	ASSERT(!config.registry.program);
	profile.registry_port = 5001;
	profile.dir = (char *)"/profiles/p";
	make(NULL);
	ASSERT_STR(config.registry.program, program);
	ASSERT_STR(config.registry.data, "/profiles/p/registry");
	assert_list(&config.registry.listen, "127.0.0.1:5001 10.89.0.1:5001");
	ASSERT(strlist_has(&config.host_ports, "tcp 5001"));
	assert_list(&config.listen, "10.89.0.1:6443 127.0.0.1:41234");
}

TEST(without_its_program_there_is_no_registry_but_the_api_is_there)
{
	ASSERT_INT(setenv("MANYKUBE_CACHE", test_dir(), 1), 0);
	profile.registry_port = 5001;
	make(NULL);
	ASSERT(!config.registry.program);
	assert_list(&config.listen, "10.89.0.1:6443 127.0.0.1:41234");
}

TEST(it_leads_to_control_planes_that_have_joined)
{
	make(NULL);
	assert_backends("cp1=10.89.0.2:6443 cp2=10.89.0.3:6443");
	nodes[2].phase = NODE_PLANNED;
	make(NULL);
	assert_backends("cp1=10.89.0.2:6443");
}

TEST(it_leads_to_the_primary_while_that_is_being_made)
{
	nodes[1].phase = NODE_PLANNED;
	nodes[2].phase = NODE_PLANNED;
	make(NULL);
	assert_backends("cp1=10.89.0.2:6443");
}

TEST(control_planes_that_are_about_to_go_are_left_out)
{
	cleanup_with(strlist_release) struct strlist without = STRLIST_INIT;

	strlist_add(&without, "cp1");
	make(&without);
	assert_backends("cp2=10.89.0.3:6443");
	/* It counts as an origin as long as it is there. */
	ASSERT_INT(config.origin_count, 3);
}

TEST(names_are_relayed_to_the_hosts_servers_unless_the_cluster_is_offline)
{
	make(NULL);
	ASSERT_STR(config.dns_listen, "10.89.0.1:53");
	assert_list(&config.dns_upstream, "192.0.2.53:53");
	profile.offline = true;
	make(NULL);
	ASSERT_STR(config.dns_listen, "10.89.0.1:53");
	assert_list(&config.dns_upstream, "");
}

TEST(ports_go_to_the_primary_first_and_to_one_node_if_it_is_named)
{
	strlist_add(&profile.ports, "8080:30080");
	strlist_add(&profile.ports, "0.0.0.0:8081:80@w1");
	make(NULL);
	ASSERT_INT(config.forward_count, 2);
	ASSERT_STR(config.forwards[0].listen, "127.0.0.1:8080");
	assert_list(&config.forwards[0].to, "10.89.0.2:30080 10.89.0.4:30080 10.89.0.3:30080");
	ASSERT_STR(config.forwards[1].listen, "0.0.0.0:8081");
	assert_list(&config.forwards[1].to, "10.89.0.4:80");
}

TEST(a_port_that_cannot_be_read_is_an_error)
{
	cleanup_with(balancer_config_release) struct balancer_config none = BALANCER_CONFIG_INIT;

	strlist_add(&profile.ports, "http");
	ASSERT(front_door_config(&profile, NULL, "", &none, NULL) < 0);
	ASSERT_INT(none.backend_count, 0);
}
