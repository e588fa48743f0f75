/*
 * The network policies of one node as a table of nftables.
 *
 * Forwarded packets pass the chain `egress` and then the chain `ingress`: a connection between two
 * pods of the node needs the consent of both.  What the node itself sends to its pods is not
 * forwarded, so probes always pass, and neither is what pods send to the node.  kube-proxy has put
 * the address of a pod in the place of that of a service before.
 */

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "policy/model.h"

static const char *const protocols[] = { "tcp", "udp", "sctp" };
static const char *const directions[] = { "ingress", "egress" };

/* In which field of a packet a pod of this node is, and its peer. */
static const char *const own_field[] = { "daddr", "saddr" };
static const char *const peer_field[] = { "saddr", "daddr" };

static const char *ip_of(uint8_t family)
{
	return family == 4 ? "ip" : "ip6";
}

static const char *type_of(uint8_t family)
{
	return family == 4 ? "ipv4_addr" : "ipv6_addr";
}

static bool has_family(const struct policy_ranges *ranges, uint8_t family)
{
	for (size_t i = 0; i < ranges->count; i++)
		if (ranges->items[i].first.family == family)
			return true;
	return false;
}

static void add_range(const struct policy_range *range, struct strbuf *out)
{
	policy_address_print(&range->first, out);
	if (policy_address_compare(&range->first, &range->last) != 0) {
		strbuf_add_char(out, '-');
		policy_address_print(&range->last, out);
	}
}

static void add_set(const struct policy_ranges *ranges, const char *name, uint8_t family,
		    struct strbuf *out)
{
	bool first = true;

	if (!has_family(ranges, family))
		return;
	strbuf_addf(out, "set %s_%u {\n  type %s\n  flags interval\n  elements = {", name, family,
		    type_of(family));
	for (size_t i = 0; i < ranges->count; i++) {
		if (ranges->items[i].first.family != family)
			continue;
		strbuf_add(out, first ? " " : ", ");
		add_range(&ranges->items[i], out);
		first = false;
	}
	strbuf_add(out, " }\n}\n");
}

static int compare_targets(const void *one, const void *other)
{
	const struct policy_target *a = one;
	const struct policy_target *b = other;
	int order = policy_address_compare(&a->address, &b->address);

	if (order)
		return order;
	return a->protocol != b->protocol ? (int)a->protocol - (int)b->protocol
					  : (int)a->port - (int)b->port;
}

static void add_targets(struct policy_targets *targets, size_t number, uint8_t family,
			struct strbuf *out)
{
	bool first = true;

	qsort(targets->items, targets->count, sizeof(*targets->items), compare_targets);
	strbuf_addf(out, "set t%zu_%u {\n  type %s . inet_proto . inet_service\n", number, family,
		    type_of(family));
	for (size_t i = 0; i < targets->count; i++) {
		const struct policy_target *target = &targets->items[i];

		if (target->address.family != family ||
		    (i > 0 && compare_targets(target, target - 1) == 0))
			continue;
		strbuf_add(out, first ? "  elements = { " : ", ");
		policy_address_print(&target->address, out);
		strbuf_addf(out, " . %s . %u", protocols[target->protocol], target->port);
		first = false;
	}
	strbuf_add(out, first ? "}\n" : " }\n}\n");
}

static void add_allow(const struct policy_model *model, const struct policy_chain *chain,
		      const struct policy_allow *allow, uint8_t family, struct strbuf *out)
{
	const char *peer = peer_field[chain->direction];
	const char *ip = ip_of(family);

	/* Nobody of this family. */
	if (allow->set != POLICY_NONE && !has_family(&model->sets[allow->set], family))
		return;
	if (allow->set != POLICY_NONE)
		strbuf_addf(out, "  %s %s @s%d_%u", ip, peer, allow->set, family);
	else
		strbuf_addf(out, "  meta nfproto ipv%u", family);
	if (allow->targets != POLICY_NONE)
		strbuf_addf(out, " %s daddr . meta l4proto . th dport @t%d_%u", ip, allow->targets,
			    family);
	else if (allow->protocol != POLICY_PROTOCOLS && allow->first == 0)
		strbuf_addf(out, " meta l4proto %s", protocols[allow->protocol]);
	else if (allow->protocol != POLICY_PROTOCOLS && allow->first == allow->last)
		strbuf_addf(out, " %s dport %u", protocols[allow->protocol], allow->first);
	else if (allow->protocol != POLICY_PROTOCOLS)
		strbuf_addf(out, " %s dport %u-%u", protocols[allow->protocol], allow->first,
			    allow->last);
	strbuf_add(out, " accept\n");
}

static void add_chain(const struct policy_model *model, size_t number, struct strbuf *out)
{
	const struct policy_chain *chain = &model->chains[number];

	strbuf_addf(out, "chain c%zu {\n", number);
	for (size_t i = 0; i < chain->count; i++)
		for (unsigned family = 4; family <= 6; family += 2)
			add_allow(model, chain, &chain->items[i], (uint8_t)family, out);
	strbuf_add(out, "}\n");
}

static void add_group(const struct policy_group *group, size_t number, struct strbuf *out)
{
	strbuf_addf(out, "chain g%zu {\n", number);
	for (size_t i = 0; i < group->count; i++)
		strbuf_addf(out, "  jump c%d\n", group->chains[i]);
	strbuf_add(out, "  drop\n}\n");
}

/* The groups of pods in DIRECTION; returns whether there is any. */
static bool add_map(const struct policy_model *model, size_t direction, uint8_t family,
		    struct strbuf *out)
{
	bool any = false;

	for (size_t i = 0; i < model->member_count; i++) {
		const struct policy_member *member = &model->members[i];

		if (member->address.family != family || member->groups[direction] == POLICY_NONE)
			continue;
		if (!any)
			strbuf_addf(out, "map %s_%u {\n  type %s : verdict\n  elements = { ",
				    directions[direction], family, type_of(family));
		else
			strbuf_add(out, ", ");
		policy_address_print(&member->address, out);
		strbuf_addf(out, " : goto g%d", member->groups[direction]);
		any = true;
	}
	if (any)
		strbuf_add(out, " }\n}\n");
	return any;
}

/* A pod always reaches itself, also through a service. */
static void add_self(const struct policy_model *model, uint8_t family, struct strbuf *out)
{
	bool any = false;

	strbuf_addf(out, "set self_%u {\n  type %s . %s\n", family, type_of(family),
		    type_of(family));
	for (size_t i = 0; i < model->member_count; i++) {
		if (model->members[i].address.family != family)
			continue;
		strbuf_add(out, any ? ", " : "  elements = { ");
		policy_address_print(&model->members[i].address, out);
		strbuf_add(out, " . ");
		policy_address_print(&model->members[i].address, out);
		any = true;
	}
	strbuf_add(out, any ? " }\n}\n" : "}\n");
}

static void add_known(const struct policy_model *model, struct strbuf *out)
{
	struct policy_ranges known = POLICY_RANGES_INIT;

	for (size_t i = 0; i < model->member_count; i++)
		policy_ranges_add_address(&known, &model->members[i].address);
	policy_ranges_normalize(&known);
	add_set(&known, "known", 4, out);
	add_set(&known, "known", 6, out);
	policy_ranges_release(&known);
}

static bool is_held(const struct policy_model *model, size_t direction, bool all_held)
{
	for (size_t i = 0; all_held && i < model->member_count; i++)
		if (model->members[i].groups[direction] != POLICY_NONE)
			return true;
	return model->hold[direction];
}

/* Drop what is for, or from, addresses of pods that nobody knows. */
static void add_hold(const struct policy_model *model, size_t direction, uint8_t family,
		     struct strbuf *out)
{
	bool any_known = false;

	for (size_t i = 0; i < model->member_count; i++)
		any_known |= model->members[i].address.family == family;
	for (size_t i = 0; i < model->ranges.count; i++) {
		if (model->ranges.items[i].first.family != family)
			continue;
		strbuf_addf(out, "  %s %s ", ip_of(family), own_field[direction]);
		add_range(&model->ranges.items[i], out);
		if (any_known)
			strbuf_addf(out, " %s %s != @known_%u", ip_of(family), own_field[direction],
				    family);
		strbuf_add(out, " drop\n");
	}
}

static void add_base(const struct policy_model *model, size_t direction, bool all_held,
		     struct strbuf *out)
{
	cleanup_with(strbuf_release) struct strbuf jumps = STRBUF_INIT;

	for (unsigned family = 4; family <= 6; family += 2) {
		if (add_map(model, direction, (uint8_t)family, out))
			strbuf_addf(&jumps, "  %s %s vmap @%s_%u\n", ip_of((uint8_t)family),
				    own_field[direction], directions[direction], family);
		if (is_held(model, direction, all_held))
			add_hold(model, direction, (uint8_t)family, &jumps);
	}
	/* Egress before ingress, and both after kube-proxy has chosen the pod. */
	strbuf_addf(out,
		    "chain %s {\n"
		    "  type filter hook forward priority %d; policy accept;\n"
		    "  ct state established,related accept\n"
		    "  ip saddr . ip daddr @self_4 accept\n"
		    "  ip6 saddr . ip6 daddr @self_6 accept\n"
		    "%s}\n",
		    directions[direction], direction == POLICY_EGRESS ? -20 : -10, jumps.text);
}

static int compare_members(const void *one, const void *other)
{
	const struct policy_member *a = one;
	const struct policy_member *b = other;

	return policy_address_compare(&a->address, &b->address);
}

/* Order by address, and make one member of several with the same one: such an address has just
 * passed from a pod to another.  If they differ, DENY is its group. */
static void merge_members(struct policy_model *model, int deny)
{
	size_t kept = 0;

	if (model->member_count == 0)
		return;
	qsort(model->members, model->member_count, sizeof(*model->members), compare_members);
	for (size_t i = 1; i < model->member_count; i++) {
		struct policy_member *before = &model->members[kept];
		const struct policy_member *member = &model->members[i];

		if (compare_members(before, member) != 0) {
			model->members[++kept] = *member;
			continue;
		}
		for (size_t way = 0; way < POLICY_DIRECTIONS; way++)
			if (before->groups[way] != member->groups[way])
				before->groups[way] = deny;
	}
	model->member_count = kept + 1;
}

static struct policy_model *copy_of(const struct policy_model *model)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	struct policy_model *copy = xcalloc(1, sizeof(*copy));

	policy_model_print(model, &text);
	if (policy_model_parse(text.text, text.len, copy, NULL) < 0)
		*copy = POLICY_MODEL_INIT;
	return copy;
}

char *policy_model_render(const struct policy_model *model, bool all_held)
{
	struct policy_model *own = copy_of(model);
	struct strbuf out = STRBUF_INIT;

	merge_members(own, policy_model_add_group(own));
	for (unsigned family = 4; family <= 6; family += 2) {
		for (size_t i = 0; i < own->set_count; i++) {
			cleanup_free char *name = xasprintf("s%zu", i);

			policy_ranges_normalize(&own->sets[i]);
			add_set(&own->sets[i], name, (uint8_t)family, &out);
		}
		for (size_t i = 0; i < own->target_count; i++)
			add_targets(&own->targets[i], i, (uint8_t)family, &out);
		add_self(own, (uint8_t)family, &out);
	}
	add_known(own, &out);
	for (size_t i = 0; i < own->chain_count; i++)
		add_chain(own, i, &out);
	for (size_t i = 0; i < own->group_count; i++)
		add_group(&own->groups[i], i, &out);
	add_base(own, POLICY_EGRESS, all_held, &out);
	add_base(own, POLICY_INGRESS, all_held, &out);
	policy_model_release(own);
	free(own);
	return strbuf_take(&out);
}
