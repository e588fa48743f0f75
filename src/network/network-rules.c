/*
 * The nftables table of a cluster: which packets may pass between its nodes, this host, and
 * everything else.
 *
 * A packet that one table drops is dropped, whatever other tables say.  So each cluster's table
 * protects the cluster's bridge and address from everything else, and this host from its nodes.
 */

#include <arpa/inet.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/strbuf.h"
#include "data/inet.h"
#include "host/link.h"
#include "network/network.h"
#include "network/network6.h"
#include "record/ports.h"
#include "record/spec.h"
#include "routing/forwarding.h"

const char *network_host_access(const struct profile *profile)
{
	return profile->host_access ?: profile->offline ? "none" : "all";
}

static void add_once(struct strlist *list, const char *item)
{
	if (!strlist_has(list, item))
		strlist_add(list, item);
}

/* Add the port WORD; "all" and "none" are not ports. */
static void add_port(struct strlist *list, const char *word)
{
	if (*word && !word[strspn(word, "0123456789")])
		add_once(list, word);
}

/* If REGISTRY, HOST[:PORT] or a URL, is on this host, add its port to RET. */
static void add_registry_port(const struct profile *profile, const char *registry,
			      struct strlist *ret)
{
	const char *slashes = strstr(registry, "://");
	const char *host = slashes ? slashes + 3 : registry;
	size_t len = strcspn(host, ":/");
	cleanup_free char *name = xstrndup(host, len);
	cleanup_free char *port = NULL;

	if (strcmp(name, profile->gateway) != 0 && strcmp(name, "host.manykube.internal") != 0)
		return;
	if (host[len] == ':')
		port = xstrndup(host + len + 1, strspn(host + len + 1, "0123456789"));
	else
		port = xstrdup(strncmp(registry, "http:", 5) == 0 ? "80" : "443");
	add_port(ret, port);
}

static void add_registry_ports(const struct profile *profile, const struct strlist *insecure,
			       const struct strlist *mirrors, struct strlist *ret)
{
	const char *registry;

	strlist_for_each(registry, insecure)
		add_registry_port(profile, registry, ret);
	strlist_for_each(registry, mirrors)
		add_registry_port(
			profile, strchr(registry, '=') ? strchr(registry, '=') + 1 : registry, ret);
}

/* The ports of this host that nodes may reach besides DNS and the API, unless they may reach all.
 * By default, these are the ports of the cluster's registries on this host. */
static void list_access_ports(const struct profile *profile, struct strlist *ret)
{
	cleanup_with(strlist_release) struct strlist words = STRLIST_INIT;
	const struct node *node;
	const char *word;

	if (profile->host_access) {
		strlist_split(&words, profile->host_access, ',');
		strlist_for_each(word, &words)
			add_port(ret, word);
		return;
	}
	add_registry_ports(profile, &profile->insecure_registries, &profile->registry_mirrors, ret);
	profile_for_each_node(node, profile)
		add_registry_ports(profile, &node->insecure_registries, &node->registry_mirrors,
				   ret);
}

void network_host_ports(const struct profile *profile, struct strlist *ret)
{
	cleanup_with(strlist_release) struct strlist ports = STRLIST_INIT;
	const char *port;

	strlist_addf(ret, "tcp %d", FRONT_DOOR_PORT);
	strlist_add(ret, "udp 53");
	strlist_add(ret, "tcp 53");
	if (profile->registry_port)
		strlist_addf(ret, "tcp %u", profile->registry_port);
	list_access_ports(profile, &ports);
	strlist_for_each(port, &ports) {
		cleanup_free char *tcp = xasprintf("tcp %s", port);
		cleanup_free char *udp = xasprintf("udp %s", port);

		add_once(ret, tcp);
		add_once(ret, udp);
	}
}

/*
 * A bridge forwards frames between its own ports, and br_netfilter shows them here as forwarded
 * from the bridge to itself.  On any other interface, such a packet was sent to this host to be
 * routed.
 */
static void add_bystander(struct strbuf *out, const char *link)
{
	strbuf_addf(out, "  iifname \"%s\" ", link);
	if (link_is_bridge(link))
		strbuf_addf(out, "oifname != \"%s\" ", link);
	strbuf_add(out, "meta nfproto ipv4 goto bystanders\n");
}

/* Interfaces that forward only because of clusters.  All other traffic there is still not
 * forwarded, except for what other programs redirect, such as published ports of containers. */
static void add_bystanders(struct strbuf *out)
{
	cleanup_with(strlist_release) struct strlist links = STRLIST_INIT;
	const char *link;

	forwarding_list(AF_INET, &links);
	strlist_for_each(link, &links)
		if (!strpbrk(link, "\"*\\"))
			add_bystander(out, link);
}

/* ICMP that is about another packet, which begins 8 bytes after the start of ICMP, with its
 * destination address another 16 bytes later. */
#define ICMP_ERRORS                                                                     \
	"icmp type { destination-unreachable, source-quench, redirect, time-exceeded, " \
	"parameter-problem }"

/* Add the condition that an ICMP error is about a packet to SUBNET, or that it is not. */
static void add_subject(struct strbuf *out, const char *text, const char *comparison)
{
	struct subnet subnet;

	if (inet_parse_subnet(text, &subnet, NULL) == 0)
		strbuf_addf(out, " @th,192,32 & 0x%08x %s 0x%08x",
			    (unsigned)(UINT64_C(0xffffffff) << (32 - subnet.prefix)), comparison,
			    ntohl(subnet.address.s_addr));
}

/*
 * ICMP errors about packets to the cluster's addresses are accepted from its bridge only.  From
 * elsewhere they are forged, and would change what this host and nodes know of the way to each
 * other.  Errors about packets from nodes to other machines pass.
 */
static void add_icmp_errors(const struct profile *profile, struct strbuf *out)
{
	const char *const subnets[] = { profile->subnet, profile->pod_subnet };

	for (size_t i = 0; i < ARRAY_SIZE(subnets); i++) {
		strbuf_addf(out, "  iifname != \"lo\" iifname != \"%s*\" " ICMP_ERRORS,
			    profile->bridge);
		add_subject(out, subnets[i], "==");
		strbuf_add(out, " drop\n");
	}
}

/* The other way round, nodes tell this host only about its packets to them: nothing of its
 * connections with other machines. */
static void add_icmp_errors_of_nodes(const struct profile *profile, struct strbuf *out)
{
	strbuf_add(out, "  " ICMP_ERRORS);
	add_subject(out, profile->subnet, "!=");
	add_subject(out, profile->pod_subnet, "!=");
	strbuf_add(out, " drop\n");
}

/*
 * Nobody else reaches the ports that the cluster has at loopback addresses, even if
 * net.ipv4.conf.all.route_localnet is on.  Whoever redirects another address to them does so
 * later than this chain.
 */
static void add_loopback(const struct profile *profile, struct strbuf *out)
{
	cleanup_with(strlist_release) struct strlist ports = STRLIST_INIT;
	cleanup_free char *joined = NULL;
	const char *word;

	strlist_addf(&ports, "%u", profile->api_port);
	if (profile->registry_port)
		strlist_addf(&ports, "%u", profile->registry_port);
	strlist_for_each(word, &profile->ports) {
		cleanup_free char *number = NULL;
		struct port_spec port;

		if (spec_parse_port(word, &port, NULL) < 0)
			continue;
		number = xasprintf("%u", port.host_port);
		add_once(&ports, number);
	}
	joined = strlist_join(&ports, ", ");
	strbuf_addf(out, "  iifname != \"lo\" ip daddr 127.0.0.0/8 tcp dport { %s } drop\n",
		    joined);
}

/*
 * The cluster's addresses exist only on its bridge.  A packet that comes from elsewhere with such
 * an address is forged.  It is dropped before connection tracking sees it: replies of its
 * connection would be accepted by nodes, and by this host from nodes.
 */
static void add_forged(const struct profile *profile, struct strbuf *out)
{
	strbuf_addf(out,
		    "chain forged {\n"
		    "  type filter hook prerouting priority raw;\n"
		    "  iifname != \"lo\" iifname != \"%s*\" ip saddr { %s, %s } drop\n",
		    profile->bridge, profile->subnet, profile->pod_subnet);
	add_icmp_errors(profile, out);
	network6_rules_forged(profile, out);
	add_loopback(profile, out);
	strbuf_add(out, "}\n");
}

/* Forwarded packets.  Addresses of services have no meaning outside of nodes: a packet that gets
 * here before kube-proxy has created its rules is rejected at once, so that its sender retries. */
static void add_forward(const struct profile *profile, struct strbuf *out)
{
	const char *bridge = profile->bridge;

	strbuf_add(out, "chain from_nodes {\n");
	network6_rules_from_nodes(profile, out);
	strbuf_addf(out, "  ip saddr != { %s, %s } drop\n", profile->subnet, profile->pod_subnet);
	/*
	 * Packets without a connection are not masqueraded, and would reveal the addresses of
	 * nodes.  A TCP connection whose beginning nobody saw may be one that another machine made
	 * while there were no rules: it must not go on as if the node had begun it.
	 */
	if (profile->offline)
		strbuf_add(out, "  reject\n");
	else
		strbuf_addf(out,
			    "  ip daddr %s reject\n"
			    "  ct state invalid drop\n"
			    "  ct state new tcp flags & (fin | syn | rst | ack) != syn "
			    "reject with tcp reset\n",
			    profile->service_subnet);
	strbuf_add(out, "}\n"
			"chain to_nodes {\n");
	network6_rules_to_nodes(profile, out);
	if (!profile->offline)
		strbuf_add(out, "  ct state established,related accept\n");
	strbuf_addf(out,
		    "  drop\n"
		    "}\n"
		    "chain bystanders {\n"
		    "  ct state established,related accept\n"
		    "  ct status dnat accept\n"
		    "  drop\n"
		    "}\n"
		    "chain forward {\n"
		    "  type filter hook forward priority filter;\n"
		    "  iifname \"%s\" oifname \"%s\" accept\n"
		    "  iifname \"%s\" goto from_nodes\n"
		    "  oifname \"%s\" goto to_nodes\n",
		    bridge, bridge, bridge, bridge);
	if (!profile->offline)
		add_bystanders(out);
	network6_rules_bystanders(profile, out);
	strbuf_add(out, "}\n");
}

/* If nodes may not reach all of this host, they still reach DNS, the API, the registry, and
 * ping. */
static void add_limits(const struct profile *profile, struct strbuf *out)
{
	cleanup_with(strlist_release) struct strlist ports = STRLIST_INIT;
	cleanup_free char *joined = NULL;

	strbuf_addf(out,
		    "  ip daddr %s udp dport 53 accept\n"
		    "  ip daddr %s tcp dport { 53, %d } accept\n"
		    "  ip daddr %s icmp type echo-request accept\n",
		    profile->gateway, profile->gateway, FRONT_DOOR_PORT, profile->gateway);
	network6_rules_limits(profile, out);
	if (profile->registry_port)
		strbuf_addf(out, "  ip daddr %s tcp dport %u accept\n", profile->gateway,
			    profile->registry_port);
	list_access_ports(profile, &ports);
	joined = strlist_join(&ports, ", ");
	if (ports.count > 0)
		strbuf_addf(out, "  meta l4proto { tcp, udp } th dport { %s } accept\n", joined);
	strbuf_add(out, "  meta l4proto tcp reject with tcp reset\n"
			"  reject\n");
}

/* Packets to this host itself.  Its address in the cluster is for the cluster only, and its
 * loopback addresses are for no node, even if net.ipv4.conf.all.route_localnet is on. */
static void add_input(const struct profile *profile, struct strbuf *out)
{
	strbuf_add(out, "chain from_nodes_to_host {\n");
	network6_rules_to_host(profile, out);
	strbuf_addf(out,
		    "  ip daddr 127.0.0.0/8 drop\n"
		    "  ip saddr != { %s, %s } drop\n",
		    profile->subnet, profile->pod_subnet);
	add_icmp_errors_of_nodes(profile, out);
	strbuf_add(out, "  ct state established,related accept\n");
	if (strcmp(network_host_access(profile), "all") != 0)
		add_limits(profile, out);
	strbuf_addf(out,
		    "}\n"
		    "chain input {\n"
		    "  type filter hook input priority filter;\n"
		    "  iifname \"%s\" goto from_nodes_to_host\n"
		    "  iifname != \"lo\" ip daddr %s drop\n",
		    profile->bridge, profile->gateway);
	network6_rules_input(profile, out);
	strbuf_add(out, "}\n");
}

char *network_rules(const struct profile *profile)
{
	struct strbuf out = STRBUF_INIT;

	if (!profile->offline) {
		strbuf_addf(&out,
			    "chain postrouting {\n"
			    "  type nat hook postrouting priority srcnat;\n"
			    "  ip saddr { %s, %s } ip daddr != { %s, %s } oifname != \"%s\" "
			    "masquerade\n",
			    profile->subnet, profile->pod_subnet, profile->subnet,
			    profile->pod_subnet, profile->bridge);
		network6_rules_nat(profile, &out);
		strbuf_add(&out, "}\n");
	}
	add_forged(profile, &out);
	add_forward(profile, &out);
	add_input(profile, &out);
	return strbuf_take(&out);
}
