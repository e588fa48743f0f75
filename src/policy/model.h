/*
 * The network policies of one node: which connections its pods accept and make.
 *
 * The watcher derives it from what the API says, and sends it as text to the privileged keeper,
 * which parses it into this form again: it consists of addresses, ports and indices only, so
 * nothing of the API's texts gets into rules.
 *
 * The text has one line per item; members follow their set and their chain:
 *
 *	range FIRST LAST        addresses of this node's pods
 *	hold ingress|egress     new connections of unknown ones of these are dropped
 *	set                     a set of addresses
 *	 FIRST LAST
 *	targets                 a set of ports of pods
 *	 ADDRESS PROTOCOL PORT
 *	chain ingress|egress    what one policy allows
 *	 SET PROTOCOL FIRST LAST    from or to SET (a number, or *) with these ports
 *	 SET * 0 65535              likewise, with any protocol and port
 *	 SET targets NUMBER         likewise, with these ports of these pods
 *	group CHAIN...          policies of a pod: what none of them allows is dropped
 *	pod ADDRESS INGRESS EGRESS  the groups of a pod (a number, or * if it is not isolated)
 *
 * Sets, targets, chains and groups are numbered from 0 in their order.
 */
#pragma once

#include "base/error.h"
#include "policy/objects.h"

#define POLICY_NONE (-1)

/*
 * The most allows of a model, and the most of all that it consists of.  Loading the rules takes
 * memory and time of the host's root user: about 1 kB for a range or port of a set, 4 kB for a
 * chain of a group, and 10 kB for an allow, which makes two rules.
 */
#define POLICY_ALLOWS_MOST 20000
#define POLICY_WORDS_MOST  200000
#define POLICY_CHAIN_WORDS 4
#define POLICY_ALLOW_WORDS 8

/* A pod may have as many chains as there are policies. */
#define POLICY_GROUP_MOST 4000

struct policy_target {
	struct policy_address address;
	enum policy_protocol protocol;
	unsigned port;
};

struct policy_targets {
	struct policy_target *items;
	size_t count;
};

struct policy_allow {
	int set;                       /* POLICY_NONE: from or to anywhere */
	int targets;                   /* POLICY_NONE: the protocol and ports below */
	enum policy_protocol protocol; /* POLICY_PROTOCOLS: any */
	unsigned first;
	unsigned last;
};

struct policy_chain {
	enum policy_direction direction;
	struct policy_allow *items;
	size_t count;
};

struct policy_group {
	int *chains;
	size_t count;
};

struct policy_member {
	struct policy_address address;
	int groups[POLICY_DIRECTIONS]; /* POLICY_NONE: not isolated */
};

struct policy_model {
	struct policy_ranges ranges;
	bool hold[POLICY_DIRECTIONS];
	struct policy_ranges *sets;
	size_t set_count;
	struct policy_targets *targets;
	size_t target_count;
	struct policy_chain *chains;
	size_t chain_count;
	struct policy_group *groups;
	size_t group_count;
	struct policy_member *members;
	size_t member_count;
	bool cut; /* it got too large and is not complete: of no use */
};

#define POLICY_MODEL_INIT ((struct policy_model){ .set_count = 0 })

/* Add an empty item, and return its number. */
int policy_model_add_set(struct policy_model *model);
int policy_model_add_targets(struct policy_model *model);
int policy_model_add_chain(struct policy_model *model, enum policy_direction direction);
int policy_model_add_group(struct policy_model *model);
void policy_targets_add(struct policy_targets *targets, const struct policy_target *target);
void policy_chain_add(struct policy_chain *chain, const struct policy_allow *allow);
void policy_group_add(struct policy_group *group, int chain);
void policy_model_add_member(struct policy_model *model, const struct policy_member *member);

/* Whether nothing is isolated. */
bool policy_model_is_empty(const struct policy_model *model);

/* Whether it has more than policy_model_parse() accepts. */
bool policy_model_is_too_large(const struct policy_model *model);

/* The text of MODEL. */
void policy_model_print(const struct policy_model *model, struct strbuf *out);

/* Parse the LEN bytes of TEXT; -EBADMSG unless all of it is valid and not too large.  Sets may be
 * in any order and overlap. */
int policy_model_parse(const char *text, size_t len, struct policy_model *ret, struct error *err);

/*
 * The contents of the node's table in nft syntax, for the caller to free.  If ALL_HELD, unknown
 * addresses of pods are held wherever any pod is isolated.
 */
char *policy_model_render(const struct policy_model *model, bool all_held) must_check;

void policy_model_release(struct policy_model *model);
