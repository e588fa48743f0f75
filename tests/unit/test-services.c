#include "look/services.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <time.h>

#include "base/clock.h"
#include "test.h"

static struct node nodes[] = {
	{ .name = (char *)"node-1", .address = "192.0.2.2", .primary = true },
	{ .name = (char *)"node-2", .address = "192.0.2.3" },
};
static struct profile profile = { .nodes = nodes, .node_count = 2 };

/* Read services and slices as JSON with ' for "; USABLE are nodes. */
static void read_all(const char *services, const char *slices, const char *usable,
		     struct services *ret)
{
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	cleanup_free char *a = xstrdup(services);
	cleanup_free char *b = xstrdup(slices);
	json_auto_t *list = NULL;
	json_auto_t *more = NULL;

	for (char *p = a; *p; p++)
		*p = *p == '\'' ? '"' : *p;
	for (char *p = b; *p; p++)
		*p = *p == '\'' ? '"' : *p;
	list = json_loads(a, 0, NULL);
	more = json_loads(b, 0, NULL);
	ASSERT(list && more);
	strlist_split(&names, usable, ' ');
	services_read(&profile, list, more, &names, "http", ret);
}

#define META(name_) "'metadata': {'name': '" name_ "', 'namespace': 'shop'}"
#define SLICE(name_, node_, ready_)                                                        \
	"{'metadata': {'name': 's', 'namespace': 'shop', 'labels': "                       \
	"{'kubernetes.io/service-name': '" name_ "'}}, 'endpoints': [{'nodeName': '" node_ \
	"', 'conditions': {'ready': " ready_ "}}]}"
#define WEB                                                                                    \
	"{" META("web") ", 'spec': {'type': 'NodePort', 'ports': [{'name': 'http', 'port': "   \
			"80, 'nodePort': 30080, 'protocol': 'TCP'}, {'port': 53, 'nodePort': " \
			"30053, 'protocol': 'UDP'}]}}"

static int check_first(const struct services *services)
{
	return service_check(&services->items[0], NULL);
}

TEST(a_node_port_has_a_url_at_a_node_that_can_answer)
{
	cleanup_with(services_release) struct services services = SERVICES_INIT;

	read_all("{'items': [" WEB "]}", "{'items': [" SLICE("web", "node-2", "true") "]}",
		 "node-1 node-2", &services);
	ASSERT_INT(services.count, 1);
	ASSERT_INT(services.items[0].port_count, 2);
	ASSERT_STR(services.items[0].ports[0].target, "http/80");
	ASSERT_STR(services.items[0].ports[0].url, "http://192.0.2.2:30080");
	ASSERT_STR(services.items[0].ports[1].target, "53");
	ASSERT_STR(services.items[0].ports[1].url, "udp://192.0.2.2:30053");
	ASSERT_INT(check_first(&services), 0);
}

TEST(a_load_balancer_has_a_url_at_its_own_address)
{
	static const char list[] = "{'items': [{" META(
		"web") ", 'spec': {'type': 'LoadBalancer', 'ports': [{'port': 80, "
		       "'nodePort': 30080}]}, 'status': {'loadBalancer': "
		       "{'ingress': [{'ip': '192.0.2.250'}]}}}]}";
	cleanup_with(services_release) struct services services = SERVICES_INIT;

	read_all(list, "{'items': [" SLICE("web", "node-2", "true") "]}", "node-1", &services);
	ASSERT_STR(services.items[0].ports[0].url, "http://192.0.2.250:80");
	ASSERT_INT(check_first(&services), 0);
}

TEST(local_traffic_goes_to_a_node_with_an_endpoint)
{
	static const char local[] = "{'items': [{" META(
		"web") ", 'spec': {'externalTrafficPolicy': 'Local', 'ports': "
		       "[{'port': 80, 'nodePort': 30080}]}}]}";
	cleanup_with(services_release) struct services services = SERVICES_INIT;

	read_all(local, "{'items': [" SLICE("web", "node-2", "true") "]}", "node-1 node-2",
		 &services);
	ASSERT_STR(services.items[0].ports[0].url, "http://192.0.2.3:30080");
	services_release(&services);
	/* Its only endpoint is on a node that is not Ready. */
	read_all(local, "{'items': [" SLICE("web", "node-2", "true") "]}", "node-1", &services);
	ASSERT(!services.items[0].ports[0].url);
	ASSERT_INT(check_first(&services), -EAGAIN);
}

TEST(what_this_host_does_not_reach_is_told_apart)
{
	cleanup_with(services_release) struct services services = SERVICES_INIT;
	cleanup_with(error_clear) struct error why = ERROR_INIT;

	/* No endpoint that is ready. */
	read_all("{'items': [" WEB "]}", "{'items': [" SLICE("web", "node-2", "false") "]}",
		 "node-1", &services);
	ASSERT_INT(service_check(&services.items[0], &why), -EAGAIN);
	ASSERT(why.reason == &reason_service_unreachable);
	error_clear(&why);
	services_release(&services);
	/* Another service's. */
	read_all("{'items': [" WEB "]}", "{'items': [" SLICE("api", "node-2", "true") "]}",
		 "node-1", &services);
	ASSERT_INT(check_first(&services), -EAGAIN);
	services_release(&services);
	/* No node. */
	read_all("{'items': [" WEB "]}", "{'items': [" SLICE("web", "node-2", "true") "]}", "",
		 &services);
	ASSERT_INT(check_first(&services), -EAGAIN);
	services_release(&services);
	/* No node port. */
	read_all("{'items': [{" META("web") ", 'spec': {'type': 'ClusterIP', 'ports': [{'port': "
					    "80}]}}]}",
		 "{'items': [" SLICE("web", "node-2", "true") "]}", "node-1", &services);
	ASSERT_INT(service_check(&services.items[0], &why), -ENOTSUP);
	ASSERT(why.reason == &reason_service_inside);
}

TEST(a_service_is_looked_for_in_its_namespace)
{
	cleanup_with(services_release) struct services services = SERVICES_INIT;
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	const struct service *found = NULL;

	read_all("{'items': [" WEB ", {" META("api") ", 'spec': {}}]}", "{}", "", &services);
	/* They are sorted. */
	ASSERT_STR(services.items[0].name, "api");
	ASSERT_INT(services_need(&services, "shop", "web", &found, NULL), 0);
	ASSERT(found == &services.items[1]);
	ASSERT_INT(services_need(&services, "default", "web", &found, &why), -ENOENT);
	ASSERT(why.reason == &reason_service_missing);
	ASSERT(strstr(why.hint, "namespace 'shop'"));
}

TEST(an_answer_of_another_form_does_no_harm)
{
	static const char *const answers[] = {
		"{}",
		"[]",
		"{'items': 5}",
		"{'items': [5, null, {}, {'metadata': 7, 'spec': []}]}",
		/* Clang takes two literals in a list for a missing comma. */
		("{'items': [{'metadata': {'name': 'a\\u001b[2J', 'namespace': 3}, 'spec': {'ports': "
		 "[null, {'port': -1, 'nodePort': 99999999999}]}}]}"),
	};

	for (size_t i = 0; i < ARRAY_SIZE(answers); i++)
		for (size_t j = 0; j < ARRAY_SIZE(answers); j++) {
			cleanup_with(services_release) struct services services = SERVICES_INIT;

			read_all(answers[i], answers[j], "node-1", &services);
			for (size_t k = 0; k < services.count; k++) {
				ASSERT(!strchr(services.items[k].name, '\033'));
				ASSERT(service_check(&services.items[k], NULL) < 0);
			}
		}
}

/* One of MANY objects of an answer: a service, and its slice. */
static json_t *describe(const char *name, const char *label)
{
	return json_pack("{s:{s:s, s:s, s:{s:s}}, s:[{s:s}]}", "metadata", "name", name,
			 "namespace", "shop", "labels", "kubernetes.io/service-name", label,
			 "endpoints", "nodeName", "node-2");
}

TEST(many_services_take_time_in_proportion)
{
	const unsigned many = 20000;
	cleanup_with(services_release) struct services services = SERVICES_INIT;
	cleanup_with(strlist_release) struct strlist usable = STRLIST_INIT;
	json_t *items = json_array();
	json_auto_t *list = json_pack("{s:o}", "items", items);
	clock_t start;

	for (unsigned i = 0; i < many; i++) {
		cleanup_free char *name = xasprintf("s%u", i);

		/* Every second has another's endpoints. */
		(void)json_array_append_new(items, describe(name, i % 2 ? name : "s1"));
	}
	strlist_add(&usable, "node-1");
	start = clock();
	services_read(&profile, list, list, &usable, "http", &services);
	/* Pairs would take half a minute. */
	ASSERT((clock() - start) / CLOCKS_PER_SEC < 3);
	/* An API that a node has taken over may list any number. */
	ASSERT_INT(services.count, SERVICES_MOST);
	ASSERT_INT(services.left_out, many - SERVICES_MOST);
	ASSERT_STR(services.items[0].name, "s0");
	ASSERT(!services.items[0].has_endpoints);
	ASSERT(services.items[1].has_endpoints);
}

TEST(equal_ports_are_tried_once_and_before_the_deadline)
{
	int fd = test_listen("127.0.0.1", 0);
	struct service service = { .port_count = 100000 };
	int64_t soon_ms = clock_now_ms() + 20000;
	unsigned count = 0;

	service.ports = xcalloc(service.port_count, sizeof(*service.ports));
	for (size_t i = 0; i < service.port_count; i++)
		service.ports[i] = (struct service_port){ .url = (char *)"http://127.0.0.1",
							  .address = "127.0.0.1",
							  .answer_port = test_port(fd),
							  .is_tcp = true };
	ASSERT(service_answers(&service, 1000, soon_ms));
	ASSERT_INT(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
	for (int one; (one = accept(fd, NULL, NULL)) >= 0; count++)
		(void)close(one);
	ASSERT_INT(count, 1);
	ASSERT(!service_answers(&service, 1000, clock_now_ms()));
	free(service.ports);
}
