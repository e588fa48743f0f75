/* The network policies of one node. */

#include "policy/model.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

static const char *const protocols[] = { "tcp", "udp", "sctp", "*" };
static const char *const directions[] = { "ingress", "egress" };

/* Make room for one more item of an array whose capacity is the next power of two. */
static void *grow(void *items, size_t count, size_t size)
{
	return (count & (count - 1)) == 0 ? xrealloc(items, count ? count * 2 : 1, size) : items;
}

int policy_model_add_set(struct policy_model *model)
{
	model->sets = grow(model->sets, model->set_count, sizeof(*model->sets));
	model->sets[model->set_count] = POLICY_RANGES_INIT;
	return (int)model->set_count++;
}

int policy_model_add_targets(struct policy_model *model)
{
	model->targets = grow(model->targets, model->target_count, sizeof(*model->targets));
	model->targets[model->target_count] = (struct policy_targets){ NULL };
	return (int)model->target_count++;
}

int policy_model_add_chain(struct policy_model *model, enum policy_direction direction)
{
	model->chains = grow(model->chains, model->chain_count, sizeof(*model->chains));
	model->chains[model->chain_count] = (struct policy_chain){ .direction = direction };
	return (int)model->chain_count++;
}

int policy_model_add_group(struct policy_model *model)
{
	model->groups = grow(model->groups, model->group_count, sizeof(*model->groups));
	model->groups[model->group_count] = (struct policy_group){ NULL };
	return (int)model->group_count++;
}

void policy_targets_add(struct policy_targets *targets, const struct policy_target *target)
{
	targets->items = grow(targets->items, targets->count, sizeof(*targets->items));
	targets->items[targets->count++] = *target;
}

void policy_chain_add(struct policy_chain *chain, const struct policy_allow *allow)
{
	chain->items = grow(chain->items, chain->count, sizeof(*chain->items));
	chain->items[chain->count++] = *allow;
}

void policy_group_add(struct policy_group *group, int chain)
{
	group->chains = grow(group->chains, group->count, sizeof(*group->chains));
	group->chains[group->count++] = chain;
}

void policy_model_add_member(struct policy_model *model, const struct policy_member *member)
{
	model->members = grow(model->members, model->member_count, sizeof(*model->members));
	model->members[model->member_count++] = *member;
}

bool policy_model_is_empty(const struct policy_model *model)
{
	return model->group_count == 0 && !model->hold[POLICY_INGRESS] &&
	       !model->hold[POLICY_EGRESS];
}

bool policy_model_is_too_large(const struct policy_model *model)
{
	size_t allows = 0;
	size_t words = model->ranges.count + model->set_count + model->target_count +
		       model->chain_count + model->group_count + model->member_count;
	bool too_wide = false;

	for (size_t i = 0; i < model->set_count; i++)
		words += model->sets[i].count;
	for (size_t i = 0; i < model->target_count; i++)
		words += model->targets[i].count;
	for (size_t i = 0; i < model->chain_count; i++)
		allows += model->chains[i].count;
	for (size_t i = 0; i < model->group_count; i++) {
		words += POLICY_CHAIN_WORDS * model->groups[i].count;
		too_wide |= model->groups[i].count > POLICY_GROUP_MOST;
	}
	return model->cut || too_wide || allows > POLICY_ALLOWS_MOST ||
	       words + POLICY_ALLOW_WORDS * allows > POLICY_WORDS_MOST;
}

static void print_ranges(const struct policy_ranges *ranges, const char *head, struct strbuf *out)
{
	for (size_t i = 0; i < ranges->count; i++) {
		strbuf_add(out, head);
		policy_address_print(&ranges->items[i].first, out);
		strbuf_add_char(out, ' ');
		policy_address_print(&ranges->items[i].last, out);
		strbuf_add_char(out, '\n');
	}
}

/* Print NUMBER, and "*" for POLICY_NONE. */
static void print_number(int number, struct strbuf *out)
{
	if (number == POLICY_NONE)
		strbuf_add(out, " *");
	else
		strbuf_addf(out, " %d", number);
}

static void print_chain(const struct policy_chain *chain, struct strbuf *out)
{
	strbuf_addf(out, "chain %s\n", directions[chain->direction]);
	for (size_t i = 0; i < chain->count; i++) {
		const struct policy_allow *allow = &chain->items[i];

		print_number(allow->set, out);
		if (allow->targets != POLICY_NONE)
			strbuf_addf(out, " targets %d\n", allow->targets);
		else
			strbuf_addf(out, " %s %u %u\n", protocols[allow->protocol], allow->first,
				    allow->last);
	}
}

static void print_targets(const struct policy_targets *targets, struct strbuf *out)
{
	strbuf_add(out, "targets\n");
	for (size_t i = 0; i < targets->count; i++) {
		strbuf_add_char(out, ' ');
		policy_address_print(&targets->items[i].address, out);
		strbuf_addf(out, " %s %u\n", protocols[targets->items[i].protocol],
			    targets->items[i].port);
	}
}

void policy_model_print(const struct policy_model *model, struct strbuf *out)
{
	print_ranges(&model->ranges, "range ", out);
	for (size_t way = 0; way < POLICY_DIRECTIONS; way++)
		if (model->hold[way])
			strbuf_addf(out, "hold %s\n", directions[way]);
	for (size_t i = 0; i < model->set_count; i++) {
		strbuf_add(out, "set\n");
		print_ranges(&model->sets[i], " ", out);
	}
	for (size_t i = 0; i < model->target_count; i++)
		print_targets(&model->targets[i], out);
	for (size_t i = 0; i < model->chain_count; i++)
		print_chain(&model->chains[i], out);
	for (size_t i = 0; i < model->group_count; i++) {
		strbuf_add(out, "group");
		for (size_t j = 0; j < model->groups[i].count; j++)
			print_number(model->groups[i].chains[j], out);
		strbuf_add_char(out, '\n');
	}
	for (size_t i = 0; i < model->member_count; i++) {
		strbuf_add(out, "pod ");
		policy_address_print(&model->members[i].address, out);
		for (size_t way = 0; way < POLICY_DIRECTIONS; way++)
			print_number(model->members[i].groups[way], out);
		strbuf_add_char(out, '\n');
	}
}

void policy_model_release(struct policy_model *model)
{
	policy_ranges_release(&model->ranges);
	for (size_t i = 0; i < model->set_count; i++)
		policy_ranges_release(&model->sets[i]);
	for (size_t i = 0; i < model->target_count; i++)
		free(model->targets[i].items);
	for (size_t i = 0; i < model->chain_count; i++)
		free(model->chains[i].items);
	for (size_t i = 0; i < model->group_count; i++)
		free(model->groups[i].chains);
	free(model->sets);
	free(model->targets);
	free(model->chains);
	free(model->groups);
	free(model->members);
	*model = POLICY_MODEL_INIT;
}
