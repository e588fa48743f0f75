/* Services of type LoadBalancer: their addresses and nodes. */

#include "base/strbuf.h"
#include "data/inet.h"
#include "network/watch-config.h"
#include "test.h"
#include "watch/balance.h"

/* JSON with ' for ". */
static json_t *load(const char *text)
{
	cleanup_free char *copy = xstrdup(text);
	json_t *object;

	for (char *p = copy; *p; p++)
		*p = *p == '\'' ? '"' : *p;
	object = json_loads(copy, 0, NULL);
	ASSERT(object);
	return object;
}

#define MOST 8

/* What the API says, and what probes do. */
struct scene {
	struct balance_object services[MOST];
	struct balance_object slices[MOST];
	struct balance_object nodes[MOST];
	struct balance_view view;
	struct in_addr dead;
	struct in_addr alive;
};

static enum balance_pulse pulse_of(struct in_addr node, void *data)
{
	struct scene *scene = data;

	if (node.s_addr == scene->dead.s_addr)
		return PULSE_DEAD;
	return node.s_addr == scene->alive.s_addr ? PULSE_ALIVE : PULSE_UNKNOWN;
}

/* What tests read lives as long as they do. */
static void *keep(void *object)
{
	static void *kept[1024];
	static size_t count;

	ASSERT(count < ARRAY_SIZE(kept));
	return kept[count++] = object;
}

static void add(struct balance_object *list, size_t *count, const char *key,
		void *(*read)(const json_t *), const char *text)
{
	json_auto_t *object = load(text);
	void *kept = keep(read(object));

	ASSERT(kept);
	ASSERT(*count < MOST);
	list[(*count)++] = (struct balance_object){ key, kept };
}

static void add_service(struct scene *scene, const char *key, const char *text)
{
	add(scene->services, &scene->view.service_count, key, balance_read_service, text);
}

static void add_node(struct scene *scene, const char *key, const char *text)
{
	add(scene->nodes, &scene->view.node_count, key, balance_read_node, text);
}

#define NODE(address_, ready_)                                                           \
	"{'status': {'addresses': [{'type': 'InternalIP', 'address': '" address_ "'}], " \
	"'conditions': [{'type': 'Ready', 'status': '" ready_ "'}]}}"
#define SERVICE(created_, more_, status_)                                                     \
	"{'metadata': {'name': 'x', 'creationTimestamp': '" created_                          \
	"'}, 'spec': {'type': 'LoadBalancer'" more_ "}, 'status': {'loadBalancer': {" status_ \
	"}}}"
#define HAS(address_) "'ingress': [{'ip': '" address_ "'}]"

/* Three nodes; the service shop/web has endpoints on node-2 and node-3. */
static void set_scene(struct scene *scene)
{
	*scene = (struct scene){ .dead = { 1 }, .alive = { 1 } };
	scene->view = (struct balance_view){ .services = scene->services,
					     .slices = scene->slices,
					     .nodes = scene->nodes,
					     .pulse = pulse_of,
					     .data = scene };
	add_node(scene, "/node-1", NODE("10.89.0.2", "True"));
	add_node(scene, "/node-2", NODE("10.89.0.3", "True"));
	add_node(scene, "/node-3", NODE("10.89.0.4", "True"));
	add(scene->slices, &scene->view.slice_count, "shop/web-x", balance_read_slice,
	    "{'metadata': {'namespace': 'shop', 'labels': {'kubernetes.io/service-name': 'web'}}, "
	    "'endpoints': [{'nodeName': 'node-2', 'conditions': {'ready': true}}, {'nodeName': "
	    "'node-3'}, {'nodeName': 'node-1', 'conditions': {'ready': false}}]}");
}

static struct in_addr at(const char *text)
{
	struct in_addr address;

	ASSERT_OK(inet_parse_address(text, &address, &err));
	return address;
}

static void update(struct balance *balance, const struct scene *scene)
{
	const struct in_addr taken[] = { at("10.89.0.254") };
	const struct balance_pool pool = { at("10.89.0.252"), at("10.89.0.254"), taken, 1 };

	balance_update(balance, &pool, &scene->view);
}

#define ASSERT_ADDRESS(got, want)                                   \
	do {                                                        \
		cleanup_free char *text_ = inet_print_address(got); \
		ASSERT_STR(text_, want);                            \
	} while (0)

TEST(services_get_free_addresses_from_the_top)
{
	struct balance balance = BALANCE_INIT;
	struct scene scene;

	set_scene(&scene);
	add_service(&scene, "shop/a", SERVICE("2", "", ""));
	add_service(&scene, "shop/b", SERVICE("1", "", ""));
	add_service(&scene, "shop/c", SERVICE("3", "", ""));
	update(&balance, &scene);
	ASSERT_INT(balance.count, 3);
	/* .254 is a node's; the pool has no third address. */
	ASSERT_ADDRESS(balance.items[1].address, "10.89.0.253");
	ASSERT_ADDRESS(balance.items[0].address, "10.89.0.252");
	ASSERT_ADDRESS(balance.items[2].address, "0.0.0.0");
	ASSERT(!balance.items[0].published);
	balance_release(&balance);
}

TEST(a_service_keeps_the_address_that_the_api_knows)
{
	struct balance balance = BALANCE_INIT;
	struct scene scene;

	set_scene(&scene);
	add_service(&scene, "shop/a", SERVICE("2", "", HAS("10.89.0.252")));
	/* Later than the other one with the same address. */
	add_service(&scene, "shop/b", SERVICE("3", "", HAS("10.89.0.252")));
	update(&balance, &scene);
	ASSERT_ADDRESS(balance.items[0].address, "10.89.0.252");
	ASSERT(balance.items[0].published);
	ASSERT_ADDRESS(balance.items[1].address, "10.89.0.253");
	ASSERT(!balance.items[1].published);
	balance_release(&balance);
}

TEST(an_address_that_was_given_is_kept_until_the_api_shows_it)
{
	struct balance balance = BALANCE_INIT;
	struct scene scene;

	set_scene(&scene);
	add_service(&scene, "shop/b", SERVICE("3", "", ""));
	update(&balance, &scene);
	ASSERT_ADDRESS(balance.items[0].address, "10.89.0.253");
	add_service(&scene, "shop/c", SERVICE("1", "", ""));
	update(&balance, &scene);
	ASSERT_ADDRESS(balance.items[0].address, "10.89.0.253");
	ASSERT_ADDRESS(balance.items[1].address, "10.89.0.252");
	balance_release(&balance);
}

TEST(an_address_that_is_asked_for_is_given_if_it_is_free)
{
	struct balance balance = BALANCE_INIT;
	struct scene scene;

	set_scene(&scene);
	add_service(&scene, "shop/a", SERVICE("1", ", 'loadBalancerIP': '10.89.0.252'", ""));
	add_service(&scene, "shop/b", SERVICE("2", ", 'loadBalancerIP': '10.89.0.252'", ""));
	update(&balance, &scene);
	ASSERT_ADDRESS(balance.items[0].address, "10.89.0.252");
	ASSERT_ADDRESS(balance.items[1].address, "10.89.0.253");
	/* Not one that is a node's, or of somewhere else. */
	set_scene(&scene);
	add_service(&scene, "shop/a", SERVICE("1", ", 'loadBalancerIP': '10.89.0.254'", ""));
	add_service(&scene, "shop/b",
		    SERVICE("2", ", 'loadBalancerIP': '8.8.8.8'", HAS("1.2.3.4")));
	balance_release(&balance);
	update(&balance, &scene);
	ASSERT_ADDRESS(balance.items[0].address, "10.89.0.253");
	ASSERT_ADDRESS(balance.items[1].address, "10.89.0.252");
	balance_release(&balance);
}

TEST(an_address_of_a_new_node_is_given_up)
{
	const struct in_addr taken[] = { at("10.89.0.253") };
	const struct balance_pool pool = { at("10.89.0.252"), at("10.89.0.253"), taken, 1 };
	struct balance balance = BALANCE_INIT;
	struct scene scene;

	set_scene(&scene);
	add_service(&scene, "shop/a", SERVICE("1", "", HAS("10.89.0.253")));
	balance_update(&balance, &pool, &scene.view);
	ASSERT_ADDRESS(balance.items[0].address, "10.89.0.252");
	ASSERT(!balance.items[0].published);
	balance_release(&balance);
}

TEST(services_of_others_are_left_alone)
{
	static const char *const others[] = {
		"{'spec': {'type': 'NodePort'}}",
		"{'spec': {'type': 'LoadBalancer', 'loadBalancerClass': 'example.com/lb'}}",
		"{'spec': {'type': 'LoadBalancer', 'ipFamilies': ['IPv6']}}",
		"{'spec': 5}",
		"[]",
	};

	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		json_auto_t *object = load(others[i]);

		ASSERT(!balance_read_service(object));
	}
}

TEST(a_service_of_both_families_gets_an_address)
{
	static const char *const own[] = {
		"{'spec': {'type': 'LoadBalancer', 'ipFamilies': ['IPv4']}}",
		"{'spec': {'type': 'LoadBalancer', 'ipFamilies': ['IPv6', 'IPv4']}}",
	};

	for (size_t i = 0; i < ARRAY_SIZE(own); i++) {
		json_auto_t *object = load(own[i]);
		void *service = balance_read_service(object);

		ASSERT(service);
		balance_free_service(service);
	}
}

TEST(a_node_with_an_endpoint_is_chosen_and_kept)
{
	struct balance balance = BALANCE_INIT;
	struct scene scene;
	struct in_addr first;

	set_scene(&scene);
	add_service(&scene, "shop/web", SERVICE("1", "", ""));
	update(&balance, &scene);
	first = balance.items[0].via;
	ASSERT(first.s_addr == at("10.89.0.3").s_addr || first.s_addr == at("10.89.0.4").s_addr);
	/* That the other one is known to be alive is no reason to go there, */
	scene.alive = first.s_addr == at("10.89.0.3").s_addr ? at("10.89.0.4") : at("10.89.0.3");
	update(&balance, &scene);
	ASSERT_INT(balance.items[0].via.s_addr, first.s_addr);
	/* but that this one is dead. */
	scene.dead = first;
	update(&balance, &scene);
	ASSERT_INT(balance.items[0].via.s_addr, scene.alive.s_addr);
	balance_release(&balance);
}

TEST(with_all_nodes_dead_nothing_changes)
{
	struct balance balance = BALANCE_INIT;
	struct scene scene;
	struct in_addr first;

	set_scene(&scene);
	add_service(&scene, "shop/web", SERVICE("1", "", ""));
	update(&balance, &scene);
	first = balance.items[0].via;
	scene.dead = first;
	/* The others are not Ready. */
	for (size_t i = 0; i < scene.view.node_count; i++) {
		struct balance_node *node = (void *)(uintptr_t)scene.nodes[i].object;

		node->ready = node->address.s_addr == first.s_addr;
	}
	update(&balance, &scene);
	ASSERT_INT(balance.items[0].via.s_addr, first.s_addr);
	balance_release(&balance);
}

TEST(a_service_without_endpoints_is_routed_to_a_node_that_refuses)
{
	struct balance balance = BALANCE_INIT;
	struct scene scene;

	set_scene(&scene);
	add_service(&scene, "shop/empty", SERVICE("1", "", ""));
	update(&balance, &scene);
	ASSERT(balance.items[0].via.s_addr != 0);
	balance_release(&balance);
}

/* A node's root user can have the API say what it likes of its node. */
TEST(nodes_are_probed_only_where_the_configuration_says)
{
	struct watch_config config = WATCH_CONFIG_INIT;
	struct balance_node known[MOST];
	struct scene scene;
	size_t count;

	set_scene(&scene);
	add_node(&scene, "/node-4", NODE("127.0.0.1", "True"));
	add_node(&scene, "/other", NODE("192.168.1.1", "True"));
	watch_config_add_node(&config, "node-1", at("10.89.0.2"), NULL, NULL);
	watch_config_add_node(&config, "node-4", at("10.89.0.5"), NULL, NULL);
	count = balance_keep_known(scene.nodes, scene.view.node_count, &config, known);
	ASSERT_INT(count, 2);
	for (size_t i = 0; i < count; i++)
		ASSERT(scene.nodes[i].object == &known[i]);
	ASSERT_STR(scene.nodes[1].key, "/node-4");
	ASSERT_ADDRESS(known[0].address, "10.89.0.2");
	ASSERT_ADDRESS(known[1].address, "10.89.0.5");
	ASSERT(known[1].ready);
	watch_config_release(&config);
}

TEST(no_more_of_a_service_is_kept_than_it_can_need)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	json_auto_t *object = NULL;
	struct balance_service *service;

	strbuf_add(&text, "{'spec': {'type': 'LoadBalancer', 'loadBalancerIP': '");
	for (size_t i = 0; i < 5000; i++)
		strbuf_add_char(&text, '1');
	strbuf_add(&text, "'}, 'status': {'loadBalancer': {'ingress': [{}");
	for (size_t i = 0; i < 5000; i++)
		strbuf_add(&text, ", {'ip': '10.89.0.2'}");
	strbuf_add(&text, "]}}}");
	object = load(text.text);
	service = balance_read_service(object);
	ASSERT(service);
	ASSERT_INT(service->has.count, BALANCE_HAS_MOST);
	ASSERT(!service->asked);
	balance_free_service(service);
}

static void pool_of(const char *subnet, const char *first, const char *last)
{
	struct node node = { .name = (char *)"node-1" };
	struct profile profile = { .nodes = &node, .node_count = 1 };
	struct watch_config config;

	profile.subnet = subnet;
	node.address = "10.89.0.2";
	ASSERT_OK(network_watch_config(&profile, &config, &err));
	ASSERT_ADDRESS(config.first, first);
	ASSERT_ADDRESS(config.last, last);
	ASSERT_INT(config.node_count, 1);
	watch_config_release(&config);
}

TEST(addresses_for_services_are_apart_from_those_of_nodes)
{
	pool_of("10.89.0.0/24", "10.89.0.128", "10.89.0.254");
	pool_of("10.89.0.0/28", "10.89.0.8", "10.89.0.14");
	pool_of("10.89.0.0/23", "10.89.1.0", "10.89.1.254");
	pool_of("10.0.0.0/8", "10.0.1.0", "10.0.1.255");
}

TEST(the_configuration_is_read_as_it_was_written)
{
	struct watch_config config = { .server = xstrdup("127.0.0.1:6443"),
				       .first = at("10.89.0.128"),
				       .last = at("10.89.0.254"),
				       .policies = true };
	struct watch_config again = WATCH_CONFIG_INIT;
	cleanup_free char *text = NULL;

	watch_config_add_node(&config, "node-1", at("10.89.0.2"), "10.244.1.0/24",
			      "fd00:0:0:103::/64");
	text = watch_config_print(&config);
	ASSERT_OK(watch_config_parse(text, strlen(text), &again, &err));
	ASSERT_STR(again.server, config.server);
	ASSERT(again.policies);
	ASSERT_INT(again.node_count, 1);
	ASSERT_STR(again.nodes[0].name, "node-1");
	ASSERT_STR(again.nodes[0].pods, "10.244.1.0/24");
	ASSERT_STR(again.nodes[0].pods6, "fd00:0:0:103::/64");
	ASSERT_INT(again.nodes[0].address.s_addr, config.nodes[0].address.s_addr);
	ASSERT_INT(again.last.s_addr, config.last.s_addr);
	watch_config_release(&config);
	watch_config_release(&again);
	ASSERT_INT(watch_config_parse("{}", 2, &again, NULL), -EBADMSG);
}
