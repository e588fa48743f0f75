/* Partitions and slow networks as rules of nftables. */

#include "fail/cut.h"

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/strbuf.h"
#include "node/cluster-node.h"
#include "record/ports.h"
#include "record/spec.h"

/* A limited connection can send so much at once: an eighth of a second, and at least a few of the
 * large packets that the kernel passes on unsplit. */
#define BURST_LEAST_BYTES 262144
#define BURST_SHARE       8

/* The rules under construction. */
struct rules {
	const struct profile *profile;
	struct strbuf chains; /* of their own */
	struct strbuf forward;
	struct strbuf input;
	struct strbuf output;
	unsigned count; /* of the chains */
};

/* Append the ports of the bridge of the nodes NAMES to RET, as the words of a set. */
static int list_links(const struct profile *profile, const struct strlist *names,
		      struct strbuf *ret, struct error *err)
{
	const char *name;

	strlist_for_each(name, names) {
		cleanup_with(cluster_node_release) struct cluster_node at = CLUSTER_NODE_INIT;
		const struct node *node = profile_find_node(profile, name);
		cleanup_free char *link = NULL;
		int r;

		if (!node)
			continue;
		r = cluster_node_open(profile, node, &at, err);
		if (r < 0)
			return r;
		link = xasprintf("%s.%u", at.spec.bridge, at.spec.slot);
		strbuf_addf(ret, "%s\"%s\"", ret->len > 0 ? ", " : "", link);
	}
	return 0;
}

/* What happens to the packets of FAILURE, a chain. */
static void add_verdicts(struct strbuf *out, const struct failure *failure)
{
	uint64_t bytes = failure->rate_bits / 8;

	if (failure->kind == FAIL_PARTITION) {
		strbuf_add(out, "  drop\n");
		return;
	}
	if (failure->loss_hundredths >= 10000)
		strbuf_add(out, "  drop\n");
	else if (failure->loss_hundredths)
		strbuf_addf(out, "  numgen random mod 10000 < %u drop\n", failure->loss_hundredths);
	if (bytes)
		strbuf_addf(out,
			    "  limit rate over %" PRIu64 " bytes/second burst %" PRIu64
			    " bytes drop\n",
			    bytes, MAX(bytes / BURST_SHARE, (uint64_t)BURST_LEAST_BYTES));
}

/* Add a chain with the verdicts of FAILURE after the text BEFORE; returns its number. */
static unsigned add_chain(struct rules *rules, const struct failure *failure, const char *before)
{
	strbuf_addf(&rules->chains, "chain failure%u {\n%s", rules->count, before);
	add_verdicts(&rules->chains, failure);
	strbuf_add(&rules->chains, "}\n");
	return rules->count++;
}

/* Lead packets that match MATCH, and have the port of FAILURE on either side, to a chain. */
static void add_jump(struct strbuf *out, const struct failure *failure, const char *match,
		     unsigned chain)
{
	static const char *const sides[] = { "dport", "sport" };

	if (!failure->port) {
		strbuf_addf(out, "  %s jump failure%u\n", match, chain);
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(sides); i++)
		strbuf_addf(out, "  %s meta l4proto { tcp, udp } th %s %u jump failure%u\n", match,
			    sides[i], failure->port, chain);
}

/* Packets between the bridge's ports OWN and OTHERS (NULL: all but OWN), in both directions. */
static void add_between(struct rules *rules, const struct failure *failure, const char *own,
			const char *others)
{
	const char *not = others ? "" : "!= ";
	cleanup_free char *out = xasprintf("iifname { %s } oifname %s{ %s }", own, not,
					   others ?: own);
	cleanup_free char *in = xasprintf("iifname %s{ %s } oifname { %s }", not, others ?: own,
					  own);

	add_jump(&rules->forward, failure, out, add_chain(rules, failure, ""));
	add_jump(&rules->forward, failure, in, add_chain(rules, failure, ""));
}

/* The ports at which nodes are reached through the front door: those of API servers, and the
 * published ones. */
static char *published_ports(const struct profile *profile)
{
	struct strbuf out = STRBUF_INIT;
	const char *word;

	strbuf_addf(&out, "%d", API_SERVER_PORT);
	strlist_for_each(word, &profile->ports) {
		struct port_spec port;

		if (spec_parse_port(word, &port, NULL) == 0 && port.node_port != API_SERVER_PORT)
			strbuf_addf(&out, ", %u", port.node_port);
	}
	return strbuf_take(&out);
}

/*
 * Packets between the nodes behind the bridge's ports OWN and this host.  The front door is a part
 * of it: what nodes ask at its address, the API and DNS, and its connections with nodes.
 */
static void add_host(struct rules *rules, const struct failure *failure, const char *own, bool host,
		     bool front_door)
{
	cleanup_free char *ports = published_ports(rules->profile);
	const char *gateway = rules->profile->gateway;
	cleanup_free char *in = xasprintf("iifname { %s }", own);
	cleanup_free char *out = xasprintf("oifname { %s }", own);
	cleanup_free char *asked = xasprintf("ip daddr %s meta l4proto { tcp, udp } th dport "
					     "{ 53, %d }",
					     gateway, FRONT_DOOR_PORT);
	cleanup_free char *answers = xasprintf("ip saddr %s meta l4proto { tcp, udp } th sport "
					       "{ 53, %d }",
					       gateway, FRONT_DOOR_PORT);
	const struct {
		struct strbuf *chain;
		const char *link;
		const char *asked;
		const char *side;
	} ways[] = {
		{ &rules->input, in, asked, "sport" },
		{ &rules->output, out, answers, "dport" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		cleanup_free char *before = xasprintf("  %s return\n  tcp %s { %s } return\n",
						      ways[i].asked, ways[i].side, ports);
		cleanup_free char *to_door = xasprintf("%s %s", ways[i].link, ways[i].asked);
		cleanup_free char *from_door = xasprintf("%s tcp %s { %s }", ways[i].link,
							 ways[i].side, ports);
		unsigned chain = add_chain(rules, failure, host && !front_door ? before : "");

		if (host) {
			add_jump(ways[i].chain, failure, ways[i].link, chain);
		} else {
			add_jump(ways[i].chain, failure, to_door, chain);
			add_jump(ways[i].chain, failure, from_door, chain);
		}
	}
}

static int add_nodes(struct rules *rules, const struct failure *failure,
		     const struct strlist *nodes, struct error *err)
{
	cleanup_with(strbuf_release) struct strbuf own = STRBUF_INIT;
	cleanup_with(strbuf_release) struct strbuf others = STRBUF_INIT;
	bool all = failure->peers.count == 0;
	bool host = all || strlist_has(&failure->peers, FAIL_PEER_HOST);
	bool front_door = all || strlist_has(&failure->peers, FAIL_PEER_FRONT_DOOR);
	int r = list_links(rules->profile, nodes, &own, err);

	if (r == 0)
		r = list_links(rules->profile, &failure->peers, &others, err);
	if (r < 0 || own.len == 0)
		return r;
	if (all || others.len > 0)
		add_between(rules, failure, own.text, all ? NULL : others.text);
	if (host || front_door)
		add_host(rules, failure, own.text, host, front_door);
	return 0;
}

/* The nodes of a partition stay together; a slow network is that of each node. */
static int add_failure(struct rules *rules, const struct failure *failure, struct error *err)
{
	const char *name;
	int r = 0;

	if (failure->kind == FAIL_PARTITION)
		return add_nodes(rules, failure, &failure->nodes, err);
	if (failure->kind != FAIL_SLOW)
		return 0;
	strlist_for_each(name, &failure->nodes) {
		cleanup_with(strlist_release) struct strlist one = STRLIST_INIT;

		strlist_add(&one, name);
		if (r == 0)
			r = add_nodes(rules, failure, &one, err);
	}
	return r;
}

static void rules_release(struct rules *rules)
{
	strbuf_release(&rules->chains);
	strbuf_release(&rules->forward);
	strbuf_release(&rules->input);
	strbuf_release(&rules->output);
}

static void add_hook(struct strbuf *out, const char *hook, const struct strbuf *rules)
{
	strbuf_addf(out, "chain %s {\n  type filter hook %s priority -10; policy accept;\n%s}\n",
		    hook, hook, rules->text);
}

int cut_rules(const struct profile *profile, char **ret_rules, struct error *err)
{
	cleanup_with(rules_release) struct rules rules = { profile,     STRBUF_INIT, STRBUF_INIT,
							   STRBUF_INIT, STRBUF_INIT, 0 };
	cleanup_with(failures_release) struct failures all = FAILURES_INIT;
	struct strbuf out = STRBUF_INIT;
	const struct failure *failure;
	int r = 0;

	failures_read(profile, &all);
	failures_for_each(failure, &all)
		if (r == 0)
			r = add_failure(&rules, failure, err);
	if (r < 0)
		return r;
	if (rules.count == 0) {
		*ret_rules = NULL;
		return 0;
	}
	strbuf_add(&out, rules.chains.text);
	add_hook(&out, "forward", &rules.forward);
	add_hook(&out, "input", &rules.input);
	add_hook(&out, "output", &rules.output);
	*ret_rules = strbuf_take(&out);
	return 0;
}
