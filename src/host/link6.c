/* IPv6 on links: settings, addresses, routes. */

#include "host/link6.h"

#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "host/netlink.h"

/* How often a dump is repeated when the kernel reports changes during it. */
#define DUMP_TRIES 20

int link6_enable(const char *name, struct error *err)
{
	/* IPv6 itself comes last. */
	static const char *const settings[][2] = {
		{ "accept_ra", "0" },  { "autoconf", "0" },     { "accept_redirects", "0" },
		{ "accept_dad", "0" }, { "disable_ipv6", "0" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(settings); i++) {
		cleanup_free char *path = xasprintf("/proc/sys/net/ipv6/conf/%s/%s", name,
						    settings[i][0]);
		int r = file_poke(path, settings[i][1], err);

		if (r < 0)
			return error_reason(
				err, error_prefix(err, r, "cannot turn on IPv6 on '%s'", name),
				&reason_network);
	}
	return 0;
}

int link6_add_bridge(struct link_socket *socket, const char *name, struct error *err)
{
	int r = link_make_bridge(socket, name, err);

	/* Settings come first: an interface that comes up sends router solicitations. */
	if (r == 0)
		r = link6_enable(name, err);
	return r < 0 ? r : link_up(socket, name, err);
}

int link6_add_address(struct link_socket *socket, const char *name, const struct in6_addr *address,
		      unsigned prefix, struct error *err)
{
	cleanup_free char *text = inet6_print_address(address);
	struct ifaddrmsg *header;
	int index = link_index(socket, name, err);
	int r;

	if (index < 0)
		return index;
	header = netlink_begin(socket, RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, sizeof(*header));
	header->ifa_family = AF_INET6;
	header->ifa_prefixlen = (uint8_t)prefix;
	header->ifa_flags = IFA_F_NODAD;
	header->ifa_index = (unsigned)index;
	mnl_attr_put(netlink_request(socket), IFA_LOCAL, sizeof(*address), address);
	mnl_attr_put(netlink_request(socket), IFA_ADDRESS, sizeof(*address), address);
	r = netlink_exchange(socket, NULL, NULL);
	if (r < 0 && r != -EEXIST)
		return error_because(err, &reason_network, r,
				     "cannot give link '%s' the address %s/%u: %s", name, text,
				     prefix, netlink_words(socket, r));
	return 0;
}

/* Begin a request of TYPE about the route to TO via GATEWAY. */
static struct rtmsg *begin_route(struct link_socket *socket, uint16_t type, uint16_t flags,
				 const struct subnet6 *to, const struct in6_addr *gateway)
{
	struct rtmsg *route = netlink_begin(socket, type, flags, sizeof(*route));

	route->rtm_family = AF_INET6;
	route->rtm_dst_len = (uint8_t)to->prefix;
	route->rtm_table = RT_TABLE_MAIN;
	if (to->prefix > 0)
		mnl_attr_put(netlink_request(socket), RTA_DST, sizeof(to->address), &to->address);
	mnl_attr_put(netlink_request(socket), RTA_GATEWAY, sizeof(*gateway), gateway);
	return route;
}

/* Set ERR to "cannot WHAT the route ..." with the reason for CODE, and return CODE. */
static int route_failed(struct link_socket *socket, int code, const char *what,
			const struct subnet6 *to, const struct in6_addr *gateway, struct error *err)
{
	cleanup_free char *destination = inet6_print_subnet(to);
	cleanup_free char *via = inet6_print_address(gateway);

	return error_because(err, &reason_network, code, "cannot %s the route to %s via %s: %s",
			     what, destination, via, netlink_words(socket, code));
}

int link6_replace_route(struct link_socket *socket, const struct subnet6 *to,
			const struct in6_addr *gateway, struct error *err)
{
	struct rtmsg *route = begin_route(socket, RTM_NEWROUTE, NLM_F_CREATE | NLM_F_REPLACE, to,
					  gateway);
	int r;

	route->rtm_protocol = RTPROT_STATIC;
	route->rtm_scope = RT_SCOPE_UNIVERSE;
	route->rtm_type = RTN_UNICAST;
	r = netlink_exchange(socket, NULL, NULL);
	return r < 0 ? route_failed(socket, r, "set", to, gateway, err) : 0;
}

int link6_delete_route(struct link_socket *socket, const struct subnet6 *to,
		       const struct in6_addr *gateway, struct error *err)
{
	int r;

	(void)begin_route(socket, RTM_DELROUTE, 0, to, gateway);
	r = netlink_exchange(socket, NULL, NULL);
	return r < 0 && r != -ESRCH ? route_failed(socket, r, "delete", to, gateway, err) : 0;
}

struct found {
	struct subnet6 network;
	int index; /* of the link; 0 if there are several */
};

struct listing {
	struct found *found;
	size_t count;
};

static void release_listing(struct listing *listing)
{
	free(listing->found);
}

static void add_found(struct listing *listing, const struct in6_addr *address, unsigned prefix,
		      int index)
{
	struct found found = { { *address, prefix }, index };

	if (prefix > 128 || IN6_IS_ADDR_LINKLOCAL(address) || IN6_IS_ADDR_MULTICAST(address) ||
	    IN6_IS_ADDR_LOOPBACK(address))
		return;
	found.network = inet6_subnet_of(address, prefix);
	listing->found = xrealloc(listing->found, listing->count + 1, sizeof(*listing->found));
	listing->found[listing->count++] = found;
}

struct attributes {
	uint16_t address_type; /* RTA_DST or IFA_ADDRESS */
	struct in6_addr address;
	int index;
	bool is_route;
};

static int read_attribute(const struct nlattr *attr, void *data)
{
	struct attributes *attributes = data;
	unsigned type = mnl_attr_get_type(attr);

	if (type == attributes->address_type &&
	    mnl_attr_get_payload_len(attr) == sizeof(attributes->address))
		memcpy(&attributes->address, mnl_attr_get_payload(attr),
		       sizeof(attributes->address));
	if (attributes->is_route && type == RTA_OIF && mnl_attr_validate(attr, MNL_TYPE_U32) >= 0)
		attributes->index = (int)mnl_attr_get_u32(attr);
	return MNL_CB_OK;
}

static void add_address(const struct nlmsghdr *message, void *data)
{
	const struct ifaddrmsg *header = mnl_nlmsg_get_payload(message);
	struct attributes attributes = { .address_type = IFA_ADDRESS };

	if (message->nlmsg_type != RTM_NEWADDR ||
	    mnl_nlmsg_get_payload_len(message) < sizeof(*header) || header->ifa_family != AF_INET6)
		return;
	(void)mnl_attr_parse(message, sizeof(*header), read_attribute, &attributes);
	add_found(data, &attributes.address, header->ifa_prefixlen, (int)header->ifa_index);
}

static void add_route(const struct nlmsghdr *message, void *data)
{
	const struct rtmsg *header = mnl_nlmsg_get_payload(message);
	struct attributes attributes = { .address_type = RTA_DST, .is_route = true };

	if (message->nlmsg_type != RTM_NEWROUTE ||
	    mnl_nlmsg_get_payload_len(message) < sizeof(*header) ||
	    header->rtm_family != AF_INET6 || header->rtm_type != RTN_UNICAST)
		return;
	/* Default routes, and what VPNs and the internet use for one: ::/1, 2000::/3. */
	if (header->rtm_dst_len <= 3 || (header->rtm_flags & RTM_F_CLONED))
		return;
	(void)mnl_attr_parse(message, sizeof(*header), read_attribute, &attributes);
	add_found(data, &attributes.address, header->rtm_dst_len, attributes.index);
}

/* Dump objects of TYPE and add them to LISTING with FN. */
static int dump(struct link_socket *socket, uint16_t type, size_t header_len, netlink_answer_fn fn,
		struct listing *listing)
{
	const size_t before = listing->count;
	int r = -EINTR;

	for (int tries = 0; r == -EINTR && tries < DUMP_TRIES; tries++) {
		struct rtgenmsg *header = netlink_begin(socket, type, NLM_F_DUMP, header_len);

		header->rtgen_family = AF_INET6;
		listing->count = before;
		r = netlink_exchange(socket, fn, listing);
	}
	return r;
}

int link6_each_network(struct link_socket *socket, link6_network_fn fn, void *data,
		       struct error *err)
{
	cleanup_with(release_listing) struct listing listing = { NULL };
	int r = dump(socket, RTM_GETADDR, sizeof(struct ifaddrmsg), add_address, &listing);

	if (r >= 0)
		r = dump(socket, RTM_GETROUTE, sizeof(struct rtmsg), add_route, &listing);
	/* A kernel without IPv6 has none. */
	if (r < 0 && r != -EOPNOTSUPP && r != -EAFNOSUPPORT)
		return error_because(err, &reason_network, r, "cannot list IPv6 networks: %s",
				     netlink_words(socket, r));
	for (size_t i = 0; i < listing.count; i++) {
		char name[IF_NAMESIZE] = "";

		(void)if_indextoname((unsigned)listing.found[i].index, name);
		r = fn(&listing.found[i].network, name, data);
		if (r < 0)
			return r;
	}
	return 0;
}
