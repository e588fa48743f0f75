/* Pods, namespaces and network policies. */

#include "policy/objects.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"

static const json_t *member_of(const json_t *object, const char *outer, const char *inner)
{
	return json_object_get(json_object_get(object, outer), inner);
}

static const char *text_of(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

static void read_labels(const json_t *object, struct policy_labels *ret)
{
	json_t *all = json_object_get(json_object_get(object, "metadata"), "labels");
	const char *key;
	json_t *value;

	ret->items = xcalloc(json_object_size(all) + 1, sizeof(*ret->items));
	json_object_foreach(all, key, value)
		if (json_is_string(value))
			ret->items[ret->count++] = (struct policy_label){
				xstrdup(key), xstrdup(json_string_value(value))
			};
}

static void release_labels(struct policy_labels *labels)
{
	for (size_t i = 0; i < labels->count; i++) {
		free(labels->items[i].key);
		free(labels->items[i].value);
	}
	free(labels->items);
}

static enum policy_operator read_operator(const char *word)
{
	static const char *const words[] = { "In", "NotIn", "Exists", "DoesNotExist" };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (text_is(word, words[i]))
			return (enum policy_operator)i;
	return POLICY_NEVER;
}

static void read_expression(const json_t *expression, struct policy_requirement *ret)
{
	const char *key = text_of(expression, "key");
	json_t *value;
	size_t i;

	*ret = (struct policy_requirement){
		.key = xstrdup(key ? key : ""),
		.operator= key ? read_operator(text_of(expression, "operator")) : POLICY_NEVER,
	};
	json_array_foreach(json_object_get(expression, "values"), i, value)
		if (json_is_string(value))
			strlist_add(&ret->values, json_string_value(value));
}

static void read_selector(const json_t *object, struct policy_selector *ret)
{
	json_t *labels = json_object_get(object, "matchLabels");
	const json_t *expressions = json_object_get(object, "matchExpressions");
	json_t *value;
	const char *key;
	size_t i;

	ret->items = xcalloc(json_object_size(labels) + json_array_size(expressions) + 1,
			     sizeof(*ret->items));
	json_object_foreach(labels, key, value) {
		struct policy_requirement *item = &ret->items[ret->count++];

		*item = (struct policy_requirement){ .key = xstrdup(key), .operator= POLICY_IN };
		if (json_is_string(value))
			strlist_add(&item->values, json_string_value(value));
	}
	json_array_foreach(expressions, i, value)
		read_expression(value, &ret->items[ret->count++]);
}

static void release_selector(struct policy_selector *selector)
{
	for (size_t i = 0; i < selector->count; i++) {
		free(selector->items[i].key);
		strlist_release(&selector->items[i].values);
	}
	free(selector->items);
}

static const char *label_of(const struct policy_labels *labels, const char *key)
{
	for (size_t i = 0; i < labels->count; i++)
		if (strcmp(labels->items[i].key, key) == 0)
			return labels->items[i].value;
	return NULL;
}

static bool is_met(const struct policy_requirement *requirement, const struct policy_labels *labels)
{
	const char *value = label_of(labels, requirement->key);

	switch (requirement->operator) {
	case POLICY_IN:
		return value && strlist_has(&requirement->values, value);
	case POLICY_NOT_IN:
		return !value || !strlist_has(&requirement->values, value);
	case POLICY_EXISTS:
		return value;
	case POLICY_ABSENT:
		return !value;
	default:
		return false;
	}
}

bool policy_selects(const struct policy_selector *selector, const struct policy_labels *labels)
{
	for (size_t i = 0; i < selector->count; i++)
		if (!is_met(&selector->items[i], labels))
			return false;
	return true;
}

/* Without a protocol, it is TCP. */
static bool read_protocol(const json_t *object, enum policy_protocol *ret)
{
	static const char *const words[POLICY_PROTOCOLS] = { "TCP", "UDP", "SCTP" };
	const char *word = text_of(object, "protocol");

	*ret = POLICY_TCP;
	for (size_t i = 0; word && i < ARRAY_SIZE(words); i++)
		if (strcmp(word, words[i]) == 0) {
			*ret = (enum policy_protocol)i;
			return true;
		}
	return !word;
}

static bool is_port(json_int_t number)
{
	return number >= 1 && number <= 65535;
}

/* False if PORT matches nothing. */
static bool read_port(const json_t *object, struct policy_port *ret)
{
	const json_t *port = json_object_get(object, "port");
	const json_t *end = json_object_get(object, "endPort");
	struct policy_port read = { .last = 65535 };

	if (!json_is_object(object) || !read_protocol(object, &read.protocol))
		return false;
	if (json_is_string(port)) {
		read.name = xstrdup(json_string_value(port));
	} else if (port && !json_is_null(port)) {
		if (!is_port(json_integer_value(port)))
			return false;
		read.first = read.last = (unsigned)json_integer_value(port);
		if (end && !json_is_null(end)) {
			if (!is_port(json_integer_value(end)) ||
			    json_integer_value(end) < read.first)
				return false;
			read.last = (unsigned)json_integer_value(end);
		}
	}
	*ret = read;
	return true;
}

static void read_block(const json_t *block, struct policy_peer *ret)
{
	const char *cidr = text_of(block, "cidr");
	struct policy_range range;
	json_t *except;
	size_t i;

	if (!cidr || !policy_range_parse_block(cidr, &range))
		return;
	policy_ranges_add(&ret->block, &range);
	json_array_foreach(json_object_get(block, "except"), i, except) {
		const char *text = json_string_value(except);

		if (text && policy_range_parse_block(text, &range))
			policy_ranges_remove(&ret->block, &range);
	}
}

static void read_peer(const json_t *object, struct policy_peer *ret)
{
	const json_t *pods = json_object_get(object, "podSelector");
	const json_t *namespaces = json_object_get(object, "namespaceSelector");
	const json_t *block = json_object_get(object, "ipBlock");

	*ret = (struct policy_peer){ .is_pods = json_is_object(pods) || json_is_object(namespaces),
				     .own_namespace = !json_is_object(namespaces) };
	read_selector(pods, &ret->pods);
	read_selector(namespaces, &ret->namespaces);
	if (!ret->is_pods)
		read_block(block, ret);
}

static void read_rule(const json_t *object, const char *peers_key, struct policy_rule *ret)
{
	const json_t *peers = json_object_get(object, peers_key);
	const json_t *ports = json_object_get(object, "ports");
	json_t *item;
	size_t i;

	*ret = (struct policy_rule){
		.any_peer = json_is_object(object) && json_array_size(peers) == 0,
		.peers = xcalloc(json_array_size(peers) + 1, sizeof(*ret->peers)),
		.any_port = json_is_object(object) && json_array_size(ports) == 0,
		.ports = xcalloc(json_array_size(ports) + 1, sizeof(*ret->ports)),
	};
	json_array_foreach(peers, i, item)
		read_peer(item, &ret->peers[ret->peer_count++]);
	json_array_foreach(ports, i, item)
		ret->port_count += read_port(item, &ret->ports[ret->port_count]);
}

static void release_rule(struct policy_rule *rule)
{
	for (size_t i = 0; i < rule->peer_count; i++) {
		release_selector(&rule->peers[i].pods);
		release_selector(&rule->peers[i].namespaces);
		policy_ranges_release(&rule->peers[i].block);
	}
	for (size_t i = 0; i < rule->port_count; i++)
		free(rule->ports[i].name);
	free(rule->peers);
	free(rule->ports);
}

static bool has_type(const json_t *types, const char *word)
{
	json_t *type;
	size_t i;

	json_array_foreach(types, i, type)
		if (text_is(json_string_value(type), word))
			return true;
	return false;
}

void *policy_read_policy(const json_t *object)
{
	static const char *const keys[] = { "ingress", "egress" };
	static const char *const peers[] = { "from", "to" };
	const json_t *spec = json_object_get(object, "spec");
	const json_t *types = json_object_get(spec, "policyTypes");
	const char *space = json_string_value(member_of(object, "metadata", "namespace"));
	struct policy *policy;

	if (!space || !json_is_object(spec))
		return NULL;
	policy = xcalloc(1, sizeof(*policy));
	policy->namespace = xstrdup(space);
	read_selector(json_object_get(spec, "podSelector"), &policy->pods);
	/* Without types, it is for ingress, and for egress if it has rules for that. */
	policy->isolates[POLICY_INGRESS] = json_array_size(types) == 0 ||
					   has_type(types, "Ingress");
	policy->isolates[POLICY_EGRESS] = json_array_size(types) == 0
						  ? json_array_size(
							    json_object_get(spec, "egress")) > 0
						  : has_type(types, "Egress");
	for (size_t way = 0; way < POLICY_DIRECTIONS; way++) {
		const json_t *rules = json_object_get(spec, keys[way]);
		json_t *rule;
		size_t i;

		policy->rules[way] = xcalloc(json_array_size(rules) + 1,
					     sizeof(*policy->rules[way]));
		json_array_foreach(rules, i, rule)
			read_rule(rule, peers[way], &policy->rules[way][policy->rule_count[way]++]);
	}
	return policy;
}

void policy_free_policy(void *data)
{
	struct policy *policy = data;

	for (size_t way = 0; way < POLICY_DIRECTIONS; way++) {
		for (size_t i = 0; i < policy->rule_count[way]; i++)
			release_rule(&policy->rules[way][i]);
		free(policy->rules[way]);
	}
	release_selector(&policy->pods);
	free(policy->namespace);
	free(policy);
}

static void read_addresses(const json_t *object, struct policy_pod *pod)
{
	const json_t *list = member_of(object, "status", "podIPs");
	json_t *item;
	size_t i;

	pod->addresses = xcalloc(json_array_size(list) + 1, sizeof(*pod->addresses));
	json_array_foreach(list, i, item) {
		const char *text = text_of(item, "ip");

		pod->address_count += text && policy_address_parse(
						      text, &pod->addresses[pod->address_count]);
	}
}

static void read_container_ports(const json_t *containers, struct policy_pod *pod)
{
	json_t *container;
	json_t *port;
	size_t i;
	size_t j;

	json_array_foreach(containers, i, container)
		json_array_foreach(json_object_get(container, "ports"), j, port) {
			const char *name = text_of(port, "name");
			json_int_t number = json_integer_value(
				json_object_get(port, "containerPort"));
			enum policy_protocol protocol;

			if (!name || !is_port(number) || !read_protocol(port, &protocol))
				continue;
			pod->ports = xrealloc(pod->ports, pod->port_count + 1, sizeof(*pod->ports));
			pod->ports[pod->port_count++] = (struct policy_pod_port){
				xstrdup(name), protocol, (unsigned)number
			};
		}
}

void *policy_read_pod(const json_t *object)
{
	const json_t *spec = json_object_get(object, "spec");
	const char *space = json_string_value(member_of(object, "metadata", "namespace"));
	const char *phase = json_string_value(member_of(object, "status", "phase"));
	const char *node = text_of(spec, "nodeName");
	struct policy_pod *pod;

	if (!space || !node || json_is_true(json_object_get(spec, "hostNetwork")) ||
	    text_is(phase, "Succeeded") || text_is(phase, "Failed"))
		return NULL;
	pod = xcalloc(1, sizeof(*pod));
	pod->namespace = xstrdup(space);
	pod->node = xstrdup(node);
	read_labels(object, &pod->labels);
	read_addresses(object, pod);
	read_container_ports(json_object_get(spec, "containers"), pod);
	/* Containers that run beside the others are among these. */
	read_container_ports(json_object_get(spec, "initContainers"), pod);
	return pod;
}

void policy_free_pod(void *data)
{
	struct policy_pod *pod = data;

	for (size_t i = 0; i < pod->port_count; i++)
		free(pod->ports[i].name);
	free(pod->ports);
	free(pod->addresses);
	release_labels(&pod->labels);
	free(pod->namespace);
	free(pod->node);
	free(pod);
}

void *policy_read_namespace(const json_t *object)
{
	const char *name = json_string_value(member_of(object, "metadata", "name"));
	struct policy_namespace *namespace;

	if (!name)
		return NULL;
	namespace = xcalloc(1, sizeof(*namespace));
	namespace->name = xstrdup(name);
	read_labels(object, &namespace->labels);
	return namespace;
}

void policy_free_namespace(void *data)
{
	struct policy_namespace *namespace = data;

	release_labels(&namespace->labels);
	free(namespace->name);
	free(namespace);
}
