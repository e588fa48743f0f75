/*
 * The IPv6 part of a cluster's network on this host.
 *
 * All addresses of a cluster are in its prefix, so rules need no lists of networks.  Nodes can send
 * router advertisements and redirects, and have link-local addresses that are not in the prefix:
 * what they send from those is dropped, except to find neighbours, which needs no more than that.
 */

#include "network/network6.h"

#include <arpa/inet.h>
#include <string.h>
#include <sys/random.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/log.h"
#include "host/link.h"
#include "routing/forwarding.h"

#define HOST_NUMBER 1

/* A random prefix is taken only if many programs choose theirs badly. */
#define TRIES 100

struct used {
	struct subnet6 *all;
	size_t count;
};

static void release_used(struct used *used)
{
	free(used->all);
}

static int note_network(const struct subnet6 *network, arg_unused const char *link, void *data)
{
	struct used *used = data;

	used->all = xrealloc(used->all, used->count + 1, sizeof(*used->all));
	used->all[used->count++] = *network;
	return 0;
}

int network6_prefix(const struct profile *profile, struct subnet6 *ret, struct error *err)
{
	int r;

	if (!profile->ipv6_prefix)
		return -ENOENT;
	r = inet6_parse_subnet(profile->ipv6_prefix, ret, err);
	if (r == 0 && ret->prefix != INET6_CLUSTER_BITS)
		r = error_set(err, -EINVAL, "'%s' is not a /%d", profile->ipv6_prefix,
			      INET6_CLUSTER_BITS);
	return r < 0 ? error_reason(err, r, &reason_host_config) : 0;
}

/* Existing profiles keep their prefixes even while they are stopped. */
static void add_profiles(const struct profile *own, struct used *used)
{
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	const char *name;

	if (profile_list(&names, NULL) < 0)
		return;
	strlist_for_each(name, &names) {
		cleanup_with(profile_release) struct profile other = PROFILE_INIT;
		struct subnet6 prefix;

		if (strcmp(name, own->name) != 0 && profile_load(name, &other, NULL) == 0 &&
		    network6_prefix(&other, &prefix, NULL) == 0)
			(void)note_network(&prefix, NULL, used);
	}
}

static bool is_free(const struct subnet6 *prefix, const struct used *used)
{
	for (size_t i = 0; i < used->count; i++)
		if (inet6_overlap(prefix, &used->all[i]))
			return false;
	return true;
}

/* A random prefix, as RFC 4193 asks for. */
static int choose_prefix(const struct used *used, struct subnet6 *ret, struct error *err)
{
	for (int tries = 0; tries < TRIES; tries++) {
		uint8_t bits[5];

		if (getrandom(bits, sizeof(bits), 0) != sizeof(bits))
			return error_sys(err, "cannot get random bytes");
		*ret = inet6_cluster_prefix(bits);
		if (is_free(ret, used))
			return 0;
	}
	return error_because(err, &reason_subnet_taken, -EADDRINUSE,
			     "no IPv6 prefix of fd00::/8 is free on this host");
}

int network6_plan(struct profile *profile, struct error *err)
{
	cleanup_with(link_closep) struct link_socket *socket = NULL;
	cleanup_with(release_used) struct used used = { NULL };
	struct subnet6 prefix;
	int r;

	if (profile->ipv6_prefix || !profile->ip_family || strcmp(profile->ip_family, "ipv4") == 0)
		return 0;
	if (!file_exists("/proc/sys/net/ipv6/conf/all")) {
		(void)error_because(err, &reason_host_config, -EAFNOSUPPORT,
				    "this host's kernel has no IPv6, or it was turned off when it "
				    "booted");
		return error_hint(err, -EAFNOSUPPORT, "use --ip-family=ipv4");
	}
	r = link_open(&socket, err);
	if (r == 0)
		r = link6_each_network(socket, note_network, &used, err);
	if (r < 0)
		return r;
	add_profiles(profile, &used);
	r = choose_prefix(&used, &prefix, err);
	if (r == 0)
		profile->ipv6_prefix = inet6_print_subnet(&prefix);
	return r;
}

bool network6_reaches_others(const struct profile *profile)
{
	return profile->ipv6_prefix && !profile->offline && forwarding_is_possible(AF_INET6);
}

int network6_set_address(const struct profile *profile, struct link_socket *host, struct error *err)
{
	struct in6_addr address;
	struct subnet6 prefix;
	int r = network6_prefix(profile, &prefix, err);

	if (r < 0)
		return r == -ENOENT ? 0 : r;
	address = inet6_node_address(&prefix, HOST_NUMBER);
	return link6_add_address(host, profile->bridge, &address, inet6_nodes(&prefix).prefix, err);
}

int network6_host_route(const struct node *node, struct link_socket *host, bool remove,
			struct error *err)
{
	struct subnet6 pods;
	struct in6_addr via;
	int r;

	if (!node->address6)
		return 0;
	r = inet6_parse_subnet(node->pod_cidr6, &pods, err);
	if (r == 0)
		r = inet6_parse_address(node->address6, &via, err);
	if (r < 0)
		return r;
	return remove ? link6_delete_route(host, &pods, &via, err)
		      : link6_replace_route(host, &pods, &via, err);
}

int network6_forward(const struct profile *profile, struct error *err)
{
	if (network6_reaches_others(profile))
		return forwarding_begin(AF_INET6, profile->bridge, err);
	if (profile->ipv6_prefix && !profile->offline)
		log_warning("nodes do not reach other machines with IPv6: this kernel forwards it "
			    "for all interfaces or none, and net.ipv6.conf.all.forwarding is 0");
	return 0;
}

/* ICMPv6 that is about another packet, which begins 8 bytes after the start of ICMP, with its
 * destination address another 24 bytes later. */
#define ICMP_ERRORS                                                                        \
	"icmpv6 type { destination-unreachable, packet-too-big, time-exceeded, parameter-" \
	"problem }"

/* Add the condition that an ICMP error is about a packet to the cluster, or that it is not. */
static void add_subject(const struct profile *profile, const char *comparison, struct strbuf *out)
{
	struct subnet6 prefix;

	if (network6_prefix(profile, &prefix, NULL) < 0)
		return;
	strbuf_addf(out, " @th,256,%d %s 0x", INET6_CLUSTER_BITS, comparison);
	for (size_t i = 0; i < INET6_CLUSTER_BITS / 8; i++)
		strbuf_addf(out, "%02x", prefix.address.s6_addr[i]);
}

/* This host's address on the bridge, for the caller to free; NULL if it has none. */
static char *host_address(const struct profile *profile)
{
	struct in6_addr address;
	struct subnet6 prefix;

	if (network6_prefix(profile, &prefix, NULL) < 0)
		return NULL;
	address = inet6_node_address(&prefix, HOST_NUMBER);
	return inet6_print_address(&address);
}

void network6_rules_nat(const struct profile *profile, struct strbuf *out)
{
	if (profile->ipv6_prefix)
		strbuf_addf(out, "  ip6 saddr %s ip6 daddr != %s oifname != \"%s\" masquerade\n",
			    profile->ipv6_prefix, profile->ipv6_prefix, profile->bridge);
}

void network6_rules_forged(const struct profile *profile, struct strbuf *out)
{
	const char *bridge = profile->bridge;

	if (!profile->ipv6_prefix)
		return;
	strbuf_addf(out, "  iifname != \"lo\" iifname != \"%s*\" ip6 saddr %s drop\n", bridge,
		    profile->ipv6_prefix);
	strbuf_addf(out, "  iifname != \"lo\" iifname != \"%s*\" " ICMP_ERRORS, bridge);
	add_subject(profile, "==", out);
	strbuf_add(out, " drop\n");
}

/* The whole prefix is the cluster's: what it has no address for goes nowhere else. */
void network6_rules_from_nodes(const struct profile *profile, struct strbuf *out)
{
	if (!profile->ipv6_prefix) {
		strbuf_add(out, "  meta nfproto ipv6 drop\n");
		return;
	}
	strbuf_addf(out, "  ip6 saddr != %s drop\n", profile->ipv6_prefix);
	if (!profile->offline)
		strbuf_addf(out, "  ip6 daddr %s reject\n", profile->ipv6_prefix);
}

void network6_rules_to_nodes(const struct profile *profile, struct strbuf *out)
{
	if (!profile->ipv6_prefix)
		strbuf_add(out, "  meta nfproto ipv6 drop\n");
}

void network6_rules_bystanders(const struct profile *profile, struct strbuf *out)
{
	cleanup_with(strlist_release) struct strlist links = STRLIST_INIT;
	const char *link;

	if (!network6_reaches_others(profile))
		return;
	forwarding_list(AF_INET6, &links);
	strlist_for_each(link, &links) {
		if (strpbrk(link, "\"*\\"))
			continue;
		strbuf_addf(out, "  iifname \"%s\" ", link);
		if (link_is_bridge(link))
			strbuf_addf(out, "oifname != \"%s\" ", link);
		strbuf_add(out, "meta nfproto ipv6 goto bystanders\n");
	}
}

void network6_rules_to_host(const struct profile *profile, struct strbuf *out)
{
	if (!profile->ipv6_prefix) {
		strbuf_add(out, "  meta nfproto ipv6 drop\n");
		return;
	}
	strbuf_addf(out,
		    "  icmpv6 type { nd-neighbor-solicit, nd-neighbor-advert } ip6 hoplimit 255 "
		    "accept\n"
		    "  ip6 saddr != %s drop\n"
		    "  ip6 daddr { ::1, ff00::/8 } drop\n"
		    "  " ICMP_ERRORS,
		    profile->ipv6_prefix);
	add_subject(profile, "!=", out);
	strbuf_add(out, " drop\n");
}

void network6_rules_input(const struct profile *profile, struct strbuf *out)
{
	cleanup_free char *address = host_address(profile);

	if (address)
		strbuf_addf(out, "  iifname != \"lo\" ip6 daddr %s drop\n", address);
}

void network6_rules_limits(const struct profile *profile, struct strbuf *out)
{
	cleanup_free char *address = host_address(profile);

	if (address)
		strbuf_addf(out, "  ip6 daddr %s icmpv6 type echo-request accept\n", address);
}
