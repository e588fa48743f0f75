/* From what the API says to the network policies of nodes. */

#include "policy/engine.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"

struct work {
	const struct policy_objects *objects;
	const char *node;
	struct policy_model *model;
	int *chains[POLICY_DIRECTIONS]; /* of each policy; POLICY_NONE: not made yet */
	size_t allows;
	size_t words;
};

static bool applies(const struct policy *policy, enum policy_direction direction,
		    const struct policy_pod *pod)
{
	return policy->isolates[direction] && strcmp(policy->namespace, pod->namespace) == 0 &&
	       policy_selects(&policy->pods, &pod->labels);
}

/* Which namespaces PEER selects, in the order of the objects. */
static bool *select_namespaces(const struct policy_objects *objects, const struct policy *policy,
			       const struct policy_peer *peer)
{
	bool *selected = xcalloc(objects->namespace_count + 1, sizeof(*selected));

	for (size_t i = 0; i < objects->namespace_count; i++) {
		const struct policy_namespace *namespace = objects->namespaces[i];

		selected[i] = peer->own_namespace
				      ? strcmp(namespace->name, policy->namespace) == 0
				      : policy_selects(&peer->namespaces, &namespace->labels);
	}
	return selected;
}

static bool is_selected(const struct policy_objects *objects, const bool *selected,
			const char *name)
{
	for (size_t i = 0; i < objects->namespace_count; i++)
		if (selected[i] && strcmp(objects->namespaces[i]->name, name) == 0)
			return true;
	return false;
}

/* Add the addresses of PEER to RET. */
static void add_peer(const struct policy_objects *objects, const struct policy *policy,
		     const struct policy_peer *peer, struct policy_ranges *ret)
{
	cleanup_free bool *selected = NULL;

	if (!peer->is_pods) {
		policy_ranges_add_all(ret, &peer->block);
		return;
	}
	selected = select_namespaces(objects, policy, peer);
	for (size_t i = 0; i < objects->pod_count; i++) {
		const struct policy_pod *pod = objects->pods[i];

		if (pod->address_count == 0 || !policy_selects(&peer->pods, &pod->labels) ||
		    !is_selected(objects, selected, pod->namespace))
			continue;
		for (size_t j = 0; j < pod->address_count; j++)
			policy_ranges_add_address(ret, &pod->addresses[j]);
	}
}

/* The number of a set with exactly RANGES, which it takes over. */
static int find_set(struct policy_model *model, struct policy_ranges *ranges)
{
	int set;

	policy_ranges_normalize(ranges);
	for (size_t i = 0; i < model->set_count; i++)
		if (policy_ranges_equal(&model->sets[i], ranges)) {
			policy_ranges_release(ranges);
			return (int)i;
		}
	set = policy_model_add_set(model);
	model->sets[set] = *ranges;
	*ranges = POLICY_RANGES_INIT;
	return set;
}

static void add_pod_targets(const struct policy_pod *pod, const struct policy_port *port,
			    struct policy_targets *targets)
{
	for (size_t i = 0; i < pod->port_count; i++) {
		if (pod->ports[i].protocol != port->protocol ||
		    strcmp(pod->ports[i].name, port->name) != 0)
			continue;
		for (size_t j = 0; j < pod->address_count; j++)
			policy_targets_add(
				targets, &(struct policy_target){ pod->addresses[j], port->protocol,
								  pod->ports[i].number });
	}
}

/* Where the port with the name of PORT is: in the policy's own pods for ingress, and for egress in
 * the pods that the rule leads to (PEERS; NULL: all). */
static int add_named_port(struct work *work, const struct policy *policy,
			  enum policy_direction direction, const struct policy_port *port,
			  const struct policy_ranges *peers)
{
	int number = policy_model_add_targets(work->model);
	struct policy_targets *targets = &work->model->targets[number];

	for (size_t i = 0; i < work->objects->pod_count; i++) {
		const struct policy_pod *pod = work->objects->pods[i];

		if (direction == POLICY_INGRESS
			    ? strcmp(pod->node, work->node) == 0 && applies(policy, direction, pod)
			    : !peers || (pod->address_count > 0 &&
					 policy_ranges_contain(peers, &pod->addresses[0])))
			add_pod_targets(pod, port, targets);
	}
	return number;
}

/* Count what was added; false if no more may be.  The model is of no use then. */
static bool spend(struct work *work, size_t allows, size_t words)
{
	work->allows += allows;
	work->words += words;
	work->model->cut |= work->allows > POLICY_ALLOWS_MOST || work->words > POLICY_WORDS_MOST;
	return !work->model->cut;
}

static void add_rule(struct work *work, const struct policy *policy,
		     enum policy_direction direction, const struct policy_rule *rule, int chain)
{
	struct policy_allow allow = { .set = POLICY_NONE,
				      .targets = POLICY_NONE,
				      .protocol = POLICY_PROTOCOLS,
				      .last = 65535 };
	struct policy_ranges peers = POLICY_RANGES_INIT;

	for (size_t i = 0; i < rule->peer_count; i++)
		add_peer(work->objects, policy, &rule->peers[i], &peers);
	/* Nobody is allowed. */
	if (!rule->any_peer && peers.count == 0)
		return;
	if (!rule->any_peer) {
		size_t sets = work->model->set_count;

		allow.set = find_set(work->model, &peers);
		if (work->model->set_count > sets &&
		    !spend(work, 0, work->model->sets[allow.set].count))
			return;
	}
	if (rule->any_port && spend(work, 1, 0))
		policy_chain_add(&work->model->chains[chain], &allow);
	for (size_t i = 0; i < rule->port_count && spend(work, 1, 0); i++) {
		const struct policy_port *port = &rule->ports[i];

		allow.targets = POLICY_NONE;
		allow.protocol = port->protocol;
		allow.first = port->first;
		allow.last = port->last;
		if (port->name)
			allow.targets = add_named_port(
				work, policy, direction, port,
				allow.set == POLICY_NONE ? NULL : &work->model->sets[allow.set]);
		if (port->name)
			(void)spend(work, 0, work->model->targets[allow.targets].count);
		policy_chain_add(&work->model->chains[chain], &allow);
	}
}

/* The chain of the policy NUMBER, made when a pod needs it first. */
static int chain_of(struct work *work, size_t number, enum policy_direction direction)
{
	const struct policy *policy = work->objects->policies[number];
	int chain = work->chains[direction][number];

	if (chain != POLICY_NONE)
		return chain;
	chain = policy_model_add_chain(work->model, direction);
	work->chains[direction][number] = chain;
	for (size_t i = 0; i < policy->rule_count[direction] && !work->model->cut; i++)
		add_rule(work, policy, direction, &policy->rules[direction][i], chain);
	return chain;
}

static bool is_same_group(const struct policy_group *a, const struct policy_group *b)
{
	return a->count == b->count &&
	       (a->count == 0 || memcmp(a->chains, b->chains, a->count * sizeof(*a->chains)) == 0);
}

/* The number of the group with exactly the chains of GROUP, which it takes over.  Chains of both
 * directions are never the same. */
static int find_group(struct policy_model *model, struct policy_group *group)
{
	int number;

	for (size_t i = 0; i < model->group_count; i++)
		if (is_same_group(&model->groups[i], group)) {
			free(group->chains);
			return (int)i;
		}
	number = policy_model_add_group(model);
	model->groups[number] = *group;
	return number;
}

static int group_of(struct work *work, const struct policy_pod *pod,
		    enum policy_direction direction)
{
	struct policy_group group = { NULL };
	bool isolated = false;

	for (size_t i = 0; i < work->objects->policy_count; i++) {
		if (!applies(work->objects->policies[i], direction, pod))
			continue;
		isolated = true;
		if (!work->model->cut)
			policy_group_add(&group, chain_of(work, i, direction));
	}
	return isolated ? find_group(work->model, &group) : POLICY_NONE;
}

static void add_pod(struct work *work, const struct policy_pod *pod)
{
	struct policy_member member;

	/* Its labels are known before its address. */
	if (pod->address_count == 0) {
		for (size_t way = 0; way < POLICY_DIRECTIONS; way++)
			for (size_t i = 0; i < work->objects->policy_count; i++)
				work->model->hold[way] |= applies(work->objects->policies[i],
								  (enum policy_direction)way, pod);
		return;
	}
	for (size_t way = 0; way < POLICY_DIRECTIONS; way++)
		member.groups[way] = group_of(work, pod, (enum policy_direction)way);
	for (size_t i = 0; i < pod->address_count; i++) {
		member.address = pod->addresses[i];
		policy_model_add_member(work->model, &member);
	}
}

void policy_compile(const struct policy_objects *objects, const char *node,
		    const struct policy_ranges *ranges, struct policy_model *ret)
{
	struct policy_model model = POLICY_MODEL_INIT;
	struct work work = { .objects = objects, .node = node, .model = &model };

	policy_ranges_add_all(&model.ranges, ranges);
	for (size_t way = 0; way < POLICY_DIRECTIONS; way++) {
		work.chains[way] = xcalloc(objects->policy_count + 1, sizeof(int));
		for (size_t i = 0; i < objects->policy_count; i++)
			work.chains[way][i] = POLICY_NONE;
	}
	for (size_t i = 0; i < objects->pod_count && !model.cut; i++)
		if (strcmp(objects->pods[i]->node, node) == 0)
			add_pod(&work, objects->pods[i]);
	for (size_t way = 0; way < POLICY_DIRECTIONS; way++)
		free(work.chains[way]);
	*ret = model;
}
