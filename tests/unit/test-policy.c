/* Network policies: from objects of the API to rules. */

#include <time.h>

#include "policy/engine.h"
#include "test.h"

#define MOST 16

/* Objects of the API as JSON with ' for ". */
struct scene {
	const struct policy_pod *pods[MOST];
	const struct policy_namespace *namespaces[MOST];
	const struct policy *policies[MOST];
	struct policy_objects objects;
	struct policy_model model;
};

/* What tests read lives as long as they do. */
static void *keep(void *object)
{
	static void *kept[1024];
	static size_t count;

	ASSERT(count < ARRAY_SIZE(kept));
	return kept[count++] = object;
}

static void *read_with(void *(*read)(const json_t *), const char *text)
{
	cleanup_free char *copy = xstrdup(text);
	json_auto_t *object = NULL;

	for (char *p = copy; *p; p++)
		*p = *p == '\'' ? '"' : *p;
	object = json_loads(copy, JSON_DECODE_ANY, NULL);
	if (!object)
		test_fail(__FILE__, __LINE__, "not JSON: %s", copy);
	return keep(read(object));
}

static void add_pod(struct scene *scene, const char *space, const char *labels, const char *address,
		    const char *more)
{
	cleanup_free char *text = xasprintf(
		"{'metadata': {'namespace': '%s', 'labels': {%s}}, 'spec': {'nodeName': 'node-1' %s}, "
		"'status': {'podIPs': [%s%s%s]}}",
		space, labels, more, *address ? "{'ip': '" : "", address, *address ? "'}" : "");
	void *pod = read_with(policy_read_pod, text);

	ASSERT(pod);
	scene->pods[scene->objects.pod_count++] = pod;
}

static void add_namespace(struct scene *scene, const char *name, const char *labels)
{
	cleanup_free char *text = xasprintf("{'metadata': {'name': '%s', 'labels': {%s}}}", name,
					    labels);

	scene->namespaces[scene->objects.namespace_count++] = read_with(policy_read_namespace,
									text);
}

static void add_policy(struct scene *scene, const char *space, const char *spec)
{
	cleanup_free char *text = xasprintf(
		"{'metadata': {'namespace': '%s', 'name': 'p'}, 'spec': {%s}}", space, spec);
	void *policy = read_with(policy_read_policy, text);

	ASSERT(policy);
	scene->policies[scene->objects.policy_count++] = policy;
}

/* The namespaces shop and bank; the pods web, db and job in shop, and till in bank. */
static void set_scene(struct scene *scene)
{
	*scene = (struct scene){ 0 };
	scene->objects.pods = scene->pods;
	scene->objects.namespaces = scene->namespaces;
	scene->objects.policies = scene->policies;
	add_namespace(scene, "shop", "'team': 'a', 'kubernetes.io/metadata.name': 'shop'");
	add_namespace(scene, "bank", "'team': 'b'");
	add_pod(scene, "shop", "'app': 'web'", "10.0.0.1",
		", 'containers': [{'ports': [{'name': 'http', 'containerPort': 8080}]}]");
	add_pod(scene, "shop", "'app': 'db', 'tier': 'data'", "10.0.0.2",
		", 'containers': [{'ports': [{'name': 'http', 'containerPort': 9090}, {'name': 'dns', "
		"'containerPort': 53, 'protocol': 'UDP'}]}]");
	add_pod(scene, "shop", "", "10.0.0.3", "");
	add_pod(scene, "bank", "'app': 'web'", "10.0.0.4", "");
}

/* The model lives until the next one is made. */
static void compile(struct scene *scene)
{
	static struct policy_model model;
	const struct policy_ranges ranges = {
		&(struct policy_range){ { 4, { 10, 0, 0, 0 } }, { 4, { 10, 0, 0, 255 } } }, 1
	};

	policy_model_release(&model);
	policy_compile(&scene->objects, "node-1", &ranges, &model);
	scene->model = model;
}

/* A packet, and whether it passes: nftables in miniature. */
struct packet {
	const char *from;
	const char *to;
	enum policy_protocol protocol;
	unsigned port;
};

static bool allows(const struct policy_model *model, const struct policy_allow *allow,
		   const struct policy_address *peer, const struct policy_address *to,
		   const struct packet *packet)
{
	if (allow->set != POLICY_NONE && !policy_ranges_contain(&model->sets[allow->set], peer))
		return false;
	if (allow->targets == POLICY_NONE)
		return allow->protocol == POLICY_PROTOCOLS ||
		       (allow->protocol == packet->protocol && allow->first <= packet->port &&
			packet->port <= allow->last);
	for (size_t i = 0; i < model->targets[allow->targets].count; i++) {
		const struct policy_target *target = &model->targets[allow->targets].items[i];

		if (policy_address_compare(&target->address, to) == 0 &&
		    target->protocol == packet->protocol && target->port == packet->port)
			return true;
	}
	return false;
}

static bool passes_group(const struct policy_model *model, int number,
			 const struct policy_address *peer, const struct policy_address *to,
			 const struct packet *packet)
{
	const struct policy_group *group = &model->groups[number];

	for (size_t i = 0; i < group->count; i++) {
		const struct policy_chain *chain = &model->chains[group->chains[i]];

		for (size_t j = 0; j < chain->count; j++)
			if (allows(model, &chain->items[j], peer, to, packet))
				return true;
	}
	return false;
}

static bool passes(struct scene *scene, const char *from, const char *to,
		   enum policy_protocol protocol, unsigned port)
{
	const struct packet packet = { from, to, protocol, port };
	struct policy_address ends[POLICY_DIRECTIONS];

	compile(scene);
	ASSERT(policy_address_parse(to, &ends[POLICY_INGRESS]));
	ASSERT(policy_address_parse(from, &ends[POLICY_EGRESS]));
	for (size_t way = 0; way < POLICY_DIRECTIONS; way++)
		for (size_t i = 0; i < scene->model.member_count; i++) {
			const struct policy_member *member = &scene->model.members[i];

			if (policy_address_compare(&member->address, &ends[way]) == 0 &&
			    member->groups[way] != POLICY_NONE &&
			    !passes_group(&scene->model, member->groups[way], &ends[!way],
					  &ends[POLICY_INGRESS], &packet))
				return false;
		}
	return true;
}

#define PASSES(from_, to_, port_)  ASSERT(passes(&scene, from_, to_, POLICY_TCP, port_))
#define DROPPED(from_, to_, port_) ASSERT(!passes(&scene, from_, to_, POLICY_TCP, port_))

#define WEB     "10.0.0.1"
#define DB      "10.0.0.2"
#define JOB     "10.0.0.3"
#define TILL    "10.0.0.4"
#define OUTSIDE "192.0.2.1"

TEST(without_policies_everything_passes)
{
	struct scene scene;

	set_scene(&scene);
	PASSES(WEB, DB, 80);
	PASSES(OUTSIDE, DB, 80);
	ASSERT(policy_model_is_empty(&scene.model));
}

TEST(default_deny_of_ingress_is_for_the_namespace_and_one_way)
{
	struct scene scene;

	set_scene(&scene);
	add_policy(&scene, "shop", "'podSelector': {}, 'policyTypes': ['Ingress']");
	DROPPED(WEB, DB, 80);
	DROPPED(OUTSIDE, DB, 80);
	DROPPED(TILL, WEB, 80);
	PASSES(WEB, TILL, 80);
	PASSES(DB, OUTSIDE, 80);
	ASSERT(!policy_model_is_empty(&scene.model));
}

TEST(default_deny_of_egress_is_one_way)
{
	struct scene scene;

	set_scene(&scene);
	add_policy(&scene, "shop", "'podSelector': {}, 'policyTypes': ['Egress']");
	DROPPED(WEB, OUTSIDE, 80);
	PASSES(OUTSIDE, WEB, 80);
	PASSES(TILL, WEB, 80);
	DROPPED(WEB, TILL, 80);
}

TEST(without_types_a_policy_is_for_ingress_and_for_egress_if_it_has_rules)
{
	struct scene scene;

	set_scene(&scene);
	add_policy(&scene, "shop", "'podSelector': {'matchLabels': {'app': 'web'}}");
	DROPPED(DB, WEB, 80);
	PASSES(WEB, DB, 80);
	add_policy(
		&scene, "shop",
		"'podSelector': {'matchLabels': {'app': 'db'}}, 'egress': [{'ports': [{'port': 1}]}]");
	DROPPED(DB, TILL, 80);
	PASSES(DB, TILL, 1);
	DROPPED(JOB, DB, 80);
}

TEST(rules_of_several_policies_add_up)
{
	struct scene scene;

	set_scene(&scene);
	add_policy(&scene, "shop", "'podSelector': {}");
	add_policy(&scene, "shop",
		   "'podSelector': {'matchLabels': {'app': 'db'}}, 'ingress': [{'from': "
		   "[{'podSelector': {'matchLabels': {'app': 'web'}}}]}]");
	add_policy(
		&scene, "shop",
		"'podSelector': {'matchLabels': {'tier': 'data'}}, 'ingress': [{'ports': [{'port': "
		"5432}]}]");
	PASSES(WEB, DB, 80);
	DROPPED(JOB, DB, 80);
	PASSES(JOB, DB, 5432);
	PASSES(OUTSIDE, DB, 5432);
	/* The same label in another namespace is another pod. */
	DROPPED(TILL, DB, 80);
	DROPPED(WEB, JOB, 80);
}

static void expect_peers(const char *peer, const char *allowed)
{
	static const char *const all[] = { WEB, DB, JOB, TILL, OUTSIDE };
	cleanup_free char *ingress = xasprintf(
		"'podSelector': {'matchLabels': {'app': 'db'}}, 'ingress': [{'from': [%s]}]", peer);
	cleanup_free char *egress = xasprintf("'podSelector': {'matchLabels': {'app': 'db'}}, "
					      "'policyTypes': ['Egress'], 'egress': [{'to': [%s]}]",
					      peer);

	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		bool expected = strstr(allowed, all[i]);
		struct scene in;
		struct scene out;

		if (strcmp(all[i], DB) == 0)
			continue;
		set_scene(&in);
		set_scene(&out);
		add_policy(&in, "shop", ingress);
		add_policy(&out, "shop", egress);
		if (passes(&in, all[i], DB, POLICY_TCP, 80) != expected ||
		    passes(&out, DB, all[i], POLICY_TCP, 80) != expected)
			test_fail(__FILE__, __LINE__, "%s and %s: not %d", peer, all[i], expected);
	}
}

TEST(every_kind_of_peer_is_understood_in_both_directions)
{
	expect_peers("{'podSelector': {}}", WEB " " JOB);
	expect_peers("{'podSelector': {'matchLabels': {'app': 'web'}}}", WEB);
	expect_peers("{'namespaceSelector': {}}", WEB " " JOB " " TILL);
	expect_peers("{'namespaceSelector': {'matchLabels': {'team': 'b'}}}", TILL);
	expect_peers("{'namespaceSelector': {'matchLabels': {'kubernetes.io/metadata.name': "
		     "'shop'}}}",
		     WEB " " JOB);
	expect_peers("{'namespaceSelector': {}, 'podSelector': {'matchLabels': {'app': 'web'}}}",
		     WEB " " TILL);
	/* Two peers are alternatives. */
	expect_peers("{'namespaceSelector': {'matchLabels': {'team': 'b'}}}, {'podSelector': "
		     "{'matchLabels': {'app': 'web'}}}",
		     WEB " " TILL);
	expect_peers("{'ipBlock': {'cidr': '192.0.2.0/24'}}", OUTSIDE);
	expect_peers("{'ipBlock': {'cidr': '0.0.0.0/0'}}", WEB " " JOB " " TILL " " OUTSIDE);
	expect_peers(
		"{'ipBlock': {'cidr': '0.0.0.0/0', 'except': ['10.0.0.0/30', '192.0.2.1/32']}}",
		TILL);
	expect_peers("{'ipBlock': {'cidr': '::/0'}}", "");
	/* These are invalid, and match nothing. */
	expect_peers("{}", "");
	expect_peers("{'ipBlock': {'cidr': 'x'}}", "");
	expect_peers("{'ipBlock': {'cidr': '10.0.0.0/99'}}", "");
	expect_peers("5", "");
}

TEST(expressions_select_as_the_api_says)
{
	expect_peers("{'podSelector': {'matchExpressions': [{'key': 'app', 'operator': 'In', "
		     "'values': ['x', 'web']}]}}",
		     WEB);
	expect_peers("{'podSelector': {'matchExpressions': [{'key': 'app', 'operator': 'NotIn', "
		     "'values': ['web']}]}}",
		     JOB);
	expect_peers(
		"{'podSelector': {'matchExpressions': [{'key': 'app', 'operator': 'Exists'}]}}",
		WEB);
	expect_peers("{'podSelector': {'matchExpressions': [{'key': 'app', 'operator': "
		     "'DoesNotExist'}]}}",
		     JOB);
	/* All have to hold. */
	expect_peers("{'podSelector': {'matchLabels': {'app': 'web'}, 'matchExpressions': [{'key': "
		     "'tier', 'operator': 'Exists'}]}}",
		     "");
	expect_peers("{'podSelector': {'matchExpressions': [{'key': 'app', 'operator': 'Like'}]}}",
		     "");
	expect_peers(
		"{'namespaceSelector': {'matchExpressions': [{'key': 'team', 'operator': 'In', "
		"'values': ['b']}]}}",
		TILL);
}

static void set_ports(struct scene *scene, const char *ports)
{
	cleanup_free char *spec = xasprintf("'podSelector': {}, 'ingress': [{'ports': [%s]}]",
					    ports);

	set_scene(scene);
	add_policy(scene, "shop", spec);
}

TEST(ports_ranges_and_protocols_are_understood)
{
	struct scene scene;

	set_ports(&scene, "{'port': 80}");
	PASSES(OUTSIDE, DB, 80);
	DROPPED(OUTSIDE, DB, 81);
	ASSERT(!passes(&scene, OUTSIDE, DB, POLICY_UDP, 80));
	set_ports(&scene, "{'port': 53, 'protocol': 'UDP'}, {'port': 7, 'protocol': 'SCTP'}");
	ASSERT(passes(&scene, OUTSIDE, DB, POLICY_UDP, 53));
	ASSERT(passes(&scene, OUTSIDE, DB, POLICY_SCTP, 7));
	DROPPED(OUTSIDE, DB, 53);
	set_ports(&scene, "{'port': 100, 'endPort': 200}");
	DROPPED(OUTSIDE, DB, 99);
	PASSES(OUTSIDE, DB, 100);
	PASSES(OUTSIDE, DB, 200);
	DROPPED(OUTSIDE, DB, 201);
	set_ports(&scene, "{'protocol': 'UDP'}");
	ASSERT(passes(&scene, OUTSIDE, DB, POLICY_UDP, 1));
	DROPPED(OUTSIDE, DB, 1);
	/* Invalid ones match nothing. */
	set_ports(&scene, "{'port': 0}, {'port': 70000}, {'port': 9, 'endPort': 3}, {'protocol': "
			  "'ICMP'}, 7");
	DROPPED(OUTSIDE, DB, 9);
	DROPPED(OUTSIDE, DB, 80);
}

TEST(a_named_port_is_looked_up_in_each_pod)
{
	struct scene scene;

	set_ports(&scene, "{'port': 'http'}");
	PASSES(OUTSIDE, WEB, 8080);
	PASSES(OUTSIDE, DB, 9090);
	DROPPED(OUTSIDE, DB, 8080);
	DROPPED(OUTSIDE, JOB, 8080);
	set_ports(&scene, "{'port': 'dns', 'protocol': 'UDP'}");
	ASSERT(passes(&scene, OUTSIDE, DB, POLICY_UDP, 53));
	DROPPED(OUTSIDE, DB, 53);
	/* For egress, in the pods that it leads to. */
	set_scene(&scene);
	add_policy(
		&scene, "shop",
		"'podSelector': {'matchLabels': {}}, 'policyTypes': ['Egress'], 'egress': [{'to': "
		"[{'podSelector': {'matchLabels': {'app': 'db'}}}], 'ports': [{'port': 'http'}]}]");
	PASSES(WEB, DB, 9090);
	DROPPED(WEB, DB, 8080);
	DROPPED(DB, WEB, 8080);
	set_scene(&scene);
	add_policy(&scene, "bank",
		   "'podSelector': {}, 'policyTypes': ['Egress'], 'egress': [{'ports': [{'port': "
		   "'http'}]}]");
	PASSES(TILL, WEB, 8080);
	PASSES(TILL, DB, 9090);
	DROPPED(TILL, OUTSIDE, 8080);
}

TEST(empty_lists_allow_all_and_empty_rules_nothing)
{
	struct scene scene;

	set_scene(&scene);
	add_policy(&scene, "shop", "'podSelector': {}, 'ingress': [{}]");
	PASSES(OUTSIDE, DB, 80);
	set_scene(&scene);
	add_policy(&scene, "shop", "'podSelector': {}, 'ingress': [{'from': [], 'ports': []}]");
	PASSES(OUTSIDE, DB, 80);
	set_scene(&scene);
	add_policy(&scene, "shop", "'podSelector': {}, 'ingress': []");
	DROPPED(OUTSIDE, DB, 80);
	/* No pod is selected. */
	set_scene(&scene);
	add_policy(
		&scene, "shop",
		"'podSelector': {}, 'ingress': [{'from': [{'podSelector': {'matchLabels': {'app': "
		"'none'}}}]}]");
	DROPPED(WEB, DB, 80);
}

TEST(pods_of_the_nodes_network_and_ended_ones_do_not_count)
{
	static const char *const pods[] = {
		"{'metadata': {'namespace': 'a'}, 'spec': {'nodeName': 'n', 'hostNetwork': true}}",
		"{'metadata': {'namespace': 'a'}, 'spec': {'nodeName': 'n'}, 'status': {'phase': "
		"'Succeeded'}}",
		"{'metadata': {'namespace': 'a'}, 'spec': {'nodeName': 'n'}, 'status': {'phase': "
		"'Failed'}}",
		"{'metadata': {'namespace': 'a'}, 'spec': {}}",
		"{'metadata': 5, 'spec': []}",
		"5",
	};

	for (size_t i = 0; i < ARRAY_SIZE(pods); i++)
		ASSERT(!read_with(policy_read_pod, pods[i]));
}

TEST(unknown_addresses_are_held_while_an_isolated_pod_starts)
{
	struct scene scene;
	cleanup_free char *rules = NULL;

	set_scene(&scene);
	add_policy(&scene, "shop",
		   "'podSelector': {'matchLabels': {'app': 'new'}}, 'policyTypes': ['Egress']");
	add_pod(&scene, "shop", "'app': 'other'", "", "");
	compile(&scene);
	ASSERT(!scene.model.hold[POLICY_EGRESS]);
	add_pod(&scene, "shop", "'app': 'new'", "", "");
	compile(&scene);
	ASSERT(scene.model.hold[POLICY_EGRESS]);
	ASSERT(!scene.model.hold[POLICY_INGRESS]);
	rules = policy_model_render(&scene.model, false);
	ASSERT(strstr(rules, "ip saddr 10.0.0.0-10.0.0.255 ip saddr != @known_4 drop"));
	ASSERT(!strstr(rules, "ip daddr 10.0.0.0"));
}

TEST(a_model_survives_its_text)
{
	cleanup_with(policy_model_release) struct policy_model again = POLICY_MODEL_INIT;
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_with(strbuf_release) struct strbuf more = STRBUF_INIT;
	struct scene scene;

	set_ports(&scene, "{'port': 'http'}, {'port': 5, 'endPort': 9}, {'protocol': 'SCTP'}");
	add_policy(&scene, "shop",
		   "'podSelector': {}, 'policyTypes': ['Egress'], 'egress': [{'to': [{'ipBlock': "
		   "{'cidr': 'fd00::/8', 'except': ['fd00::/16']}}, {'podSelector': {}}]}]");
	add_pod(&scene, "shop", "", "", "");
	compile(&scene);
	policy_model_print(&scene.model, &text);
	ASSERT_OK(policy_model_parse(text.text, text.len, &again, &err));
	policy_model_print(&again, &more);
	ASSERT_STR(more.text, text.text);
}

TEST(text_of_another_form_is_refused)
{
	static const char *const bad[] = {
		"set\n 10.0.0.1\n",
		"set\n 10.0.0.2 10.0.0.1\n",
		"set\n 10.0.0.1 ::1\n",
		" 10.0.0.1 10.0.0.2\n",
		"set\n 10.0.0.1 10.0.0.2;drop\n",
		"set\n 10.0.0.1 10.0.0.2",
		"chain ingress\n 0 tcp 1 2\n",
		"chain ingress\n * tcp 2 1\n",
		"chain ingress\n * tcp 1 70000\n",
		"chain ingress\n * icmp 0 1\n",
		"chain ingress\n * * 1 2\n",
		"chain sideways\n",
		"group 0\n",
		"group *\n",
		"pod 10.0.0.1 0 *\n",
		"chain ingress\ngroup 0\npod 10.0.0.1 * 0\n",
		"pod x * *\n",
		"targets\n 10.0.0.1 * 5\n",
		"hold up\n",
		"table inet x\n",
		"set  x\n",
		"set \n",
		"\n",
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct policy_model model = POLICY_MODEL_INIT;

		if (policy_model_parse(bad[i], strlen(bad[i]), &model, NULL) != -EBADMSG)
			test_fail(__FILE__, __LINE__, "accepted: %s", bad[i]);
	}
}

TEST(ranges_are_merged_and_taken_apart)
{
	struct policy_ranges ranges = POLICY_RANGES_INIT;
	struct policy_address address;
	struct policy_range range;

	ASSERT(policy_range_parse_block("10.0.0.7/30", &range));
	policy_ranges_add(&ranges, &range);
	ASSERT(policy_address_parse("10.0.0.8", &address));
	policy_ranges_add_address(&ranges, &address);
	ASSERT(policy_address_parse("fd00::1", &address));
	policy_ranges_add_address(&ranges, &address);
	policy_ranges_normalize(&ranges);
	ASSERT_INT(ranges.count, 2);
	ASSERT(policy_range_parse_block("10.0.0.6/32", &range));
	policy_ranges_remove(&ranges, &range);
	ASSERT_INT(ranges.count, 3);
	ASSERT_INT(ranges.items[0].last.bytes[3], 5);
	ASSERT_INT(ranges.items[1].first.bytes[3], 7);
	ASSERT(policy_range_parse_block("0.0.0.0/0", &range));
	policy_ranges_remove(&ranges, &range);
	ASSERT_INT(ranges.count, 1);
	ASSERT(policy_range_parse_block("::/0", &range));
	policy_ranges_remove(&ranges, &range);
	ASSERT_INT(ranges.count, 0);
	policy_ranges_release(&ranges);
	ASSERT(!policy_range_parse_block("10.0.0.0", &range));
	ASSERT(!policy_range_parse_block("10.0.0.0/33", &range));
	ASSERT(!policy_range_parse_block("/8", &range));
}

TEST(two_hundred_policies_among_three_hundred_pods_take_a_moment)
{
	static const struct policy_pod *pods[300];
	static const struct policy *policies[200];
	struct policy_objects objects = { pods, 300, NULL, 1, policies, 200 };
	const struct policy_namespace *shop = read_with(policy_read_namespace,
							"{'metadata': {'name': 'shop'}}");
	struct policy_ranges none = POLICY_RANGES_INIT;
	struct policy_model model;
	cleanup_free char *rules = NULL;
	struct timespec begin;
	struct timespec end;

	objects.namespaces = &shop;
	for (unsigned i = 0; i < 300; i++) {
		cleanup_free char *text = xasprintf(
			"{'metadata': {'namespace': 'shop', 'labels': {'app': 'app-%u'}}, 'spec': "
			"{'nodeName': 'node-%u'}, 'status': {'podIPs': [{'ip': '10.0.%u.%u'}]}}",
			i % 200, i % 3, i % 3, i / 3 + 2);

		pods[i] = read_with(policy_read_pod, text);
	}
	for (unsigned i = 0; i < 200; i++) {
		cleanup_free char *text = xasprintf(
			"{'metadata': {'namespace': 'shop'}, 'spec': {'podSelector': {'matchLabels': "
			"{'app': 'app-%u'}}, 'ingress': [{'from': [{'podSelector': "
			"{'matchExpressions': [{'key': 'app', 'operator': 'NotIn', 'values': "
			"['app-%u']}]}}], 'ports': [{'port': 80}]}]}}",
			i, (i * 7) % 200);

		policies[i] = read_with(policy_read_policy, text);
	}
	(void)clock_gettime(CLOCK_MONOTONIC, &begin);
	policy_compile(&objects, "node-1", &none, &model);
	rules = policy_model_render(&model, false);
	(void)clock_gettime(CLOCK_MONOTONIC, &end);
	ASSERT_INT(model.member_count, 100);
	ASSERT(end.tv_sec - begin.tv_sec < 2);
	policy_model_release(&model);
}

static int parse_again(const struct policy_model *model)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	struct policy_model copy = POLICY_MODEL_INIT;
	int r;

	policy_model_print(model, &text);
	r = policy_model_parse(text.text, text.len, &copy, NULL);
	policy_model_release(&copy);
	return r;
}

/* The model of one pod, whose policy has that many ports. */
static void compile_ports(unsigned count, struct policy_model *ret)
{
	cleanup_with(strbuf_release) struct strbuf spec = STRBUF_INIT;
	struct policy_ranges none = POLICY_RANGES_INIT;
	struct scene scene;

	set_scene(&scene);
	strbuf_add(&spec, "'podSelector': {}, 'ingress': [{'ports': [");
	for (unsigned i = 0; i < count; i++)
		strbuf_addf(&spec, "%s{'port': %u}", i ? ", " : "", i % 60000 + 1);
	strbuf_add(&spec, "]}]");
	add_policy(&scene, "shop", spec.text);
	policy_compile(&scene.objects, "node-1", &none, ret);
}

TEST(a_model_that_is_too_large_is_refused_and_known_to_be)
{
	struct policy_model model;
	struct policy_allow allow;

	compile_ports(POLICY_ALLOWS_MOST, &model);
	ASSERT(!policy_model_is_too_large(&model));
	ASSERT_INT(parse_again(&model), 0);
	allow = model.chains[0].items[0];
	policy_chain_add(&model.chains[0], &allow);
	ASSERT(policy_model_is_too_large(&model));
	ASSERT_INT(parse_again(&model), -EBADMSG);
	policy_model_release(&model);
	/* The watcher makes no more of it. */
	compile_ports(3 * POLICY_ALLOWS_MOST, &model);
	ASSERT(policy_model_is_too_large(&model));
	ASSERT(model.chains[0].count <= POLICY_ALLOWS_MOST);
	policy_model_release(&model);
}

TEST(long_groups_and_many_ranges_are_too_large)
{
	struct policy_model model = POLICY_MODEL_INIT;
	int chain = policy_model_add_chain(&model, POLICY_INGRESS);
	int group = policy_model_add_group(&model);
	struct policy_range range;
	int set;

	for (size_t i = 0; i < POLICY_GROUP_MOST; i++)
		policy_group_add(&model.groups[group], chain);
	ASSERT(!policy_model_is_too_large(&model));
	ASSERT_INT(parse_again(&model), 0);
	policy_group_add(&model.groups[group], chain);
	ASSERT(policy_model_is_too_large(&model));
	ASSERT_INT(parse_again(&model), -EBADMSG);
	policy_model_release(&model);
	set = policy_model_add_set(&model);
	ASSERT(policy_range_parse_block("10.0.0.0/24", &range));
	for (size_t i = 0; i < POLICY_WORDS_MOST; i++)
		policy_ranges_add(&model.sets[set], &range);
	ASSERT(policy_model_is_too_large(&model));
	ASSERT_INT(parse_again(&model), -EBADMSG);
	policy_model_release(&model);
}
