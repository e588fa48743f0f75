/*
 * Lists of links, addresses and routes.
 *
 * A list is complete before callbacks are called, so they may use the same socket and never see a
 * list that changed while it was read.
 */

#include <arpa/inet.h>
#include <linux/rtnetlink.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "host/link.h"
#include "host/netlink.h"

/* How often a dump is repeated when the kernel reports changes during it. */
#define DUMP_TRIES 20

struct network {
	uint32_t address; /* network byte order */
	unsigned prefix;
	int index; /* of the link; 0 if there are several */
};

struct listing {
	struct netlink_link *links;
	size_t link_count;
	struct network *networks;
	size_t network_count;
};

#define LISTING_INIT ((struct listing){ NULL })

static void listing_release(struct listing *listing)
{
	free(listing->links);
	free(listing->networks);
	*listing = LISTING_INIT;
}

static void add_link(const struct nlmsghdr *message, void *data)
{
	struct listing *listing = data;
	struct netlink_link link;

	if (!netlink_read_link(message, &link) || !link.name[0])
		return;
	listing->links = xrealloc(listing->links, listing->link_count + 1, sizeof(*listing->links));
	listing->links[listing->link_count++] = link;
}

static void add_network(struct listing *listing, uint32_t address, unsigned prefix, int index)
{
	uint32_t mask = prefix == 0 ? 0 : htonl(~UINT32_C(0) << (32 - prefix));

	listing->networks = xrealloc(listing->networks, listing->network_count + 1,
				     sizeof(*listing->networks));
	listing->networks[listing->network_count++] = (struct network){
		.address = address & mask,
		.prefix = prefix,
		.index = index,
	};
}

static int read_address_attr(const struct nlattr *attr, void *data)
{
	uint32_t *address = data;

	/* For a point-to-point link this is the peer's address, which determines the network. */
	if (mnl_attr_get_type(attr) == IFA_ADDRESS && mnl_attr_validate(attr, MNL_TYPE_U32) >= 0)
		*address = mnl_attr_get_u32(attr);
	return MNL_CB_OK;
}

static void add_address(const struct nlmsghdr *message, void *data)
{
	const struct ifaddrmsg *header = mnl_nlmsg_get_payload(message);
	uint32_t address = 0;

	if (message->nlmsg_type != RTM_NEWADDR ||
	    mnl_nlmsg_get_payload_len(message) < sizeof(*header) || header->ifa_family != AF_INET ||
	    header->ifa_prefixlen > 32)
		return;
	(void)mnl_attr_parse(message, sizeof(*header), read_address_attr, &address);
	if (address)
		add_network(data, address, header->ifa_prefixlen, (int)header->ifa_index);
}

struct route {
	uint32_t destination;
	uint32_t table;
	int index;
};

static int read_route_attr(const struct nlattr *attr, void *data)
{
	struct route *route = data;

	if (mnl_attr_get_payload_len(attr) != sizeof(uint32_t))
		return MNL_CB_OK;
	switch (mnl_attr_get_type(attr)) {
	case RTA_DST:
		route->destination = mnl_attr_get_u32(attr);
		break;
	case RTA_OIF:
		route->index = (int)mnl_attr_get_u32(attr);
		break;
	case RTA_TABLE:
		route->table = mnl_attr_get_u32(attr);
		break;
	default:
		break;
	}
	return MNL_CB_OK;
}

static void add_route(const struct nlmsghdr *message, void *data)
{
	const struct rtmsg *header = mnl_nlmsg_get_payload(message);
	struct route route = { 0 };

	if (message->nlmsg_type != RTM_NEWROUTE ||
	    mnl_nlmsg_get_payload_len(message) < sizeof(*header) || header->rtm_family != AF_INET ||
	    header->rtm_dst_len > 32)
		return;
	/* Default routes: VPNs use two halves, 0.0.0.0/1 and 128.0.0.0/1. */
	if (header->rtm_dst_len <= 1 || (header->rtm_flags & RTM_F_CLONED))
		return;
	if (header->rtm_type == RTN_LOCAL || header->rtm_type == RTN_BROADCAST ||
	    header->rtm_type == RTN_MULTICAST)
		return;
	route.table = header->rtm_table;
	(void)mnl_attr_parse(message, sizeof(*header), read_route_attr, &route);
	if (route.table != RT_TABLE_LOCAL)
		add_network(data, route.destination, header->rtm_dst_len, route.index);
}

/* The lengths of the lists before a dump, to which they are reset when it is repeated. */
struct mark {
	size_t link_count;
	size_t network_count;
};

/* Dump objects of TYPE and add them to LISTING with FN. */
static int dump(struct link_socket *socket, uint16_t type, netlink_answer_fn fn,
		struct listing *listing)
{
	const struct mark mark = { listing->link_count, listing->network_count };
	int r = -EINTR;

	for (int tries = 0; r == -EINTR && tries < DUMP_TRIES; tries++) {
		/* All three request headers begin with the family; their lengths differ. */
		struct rtgenmsg *header = netlink_begin(
			socket, type, NLM_F_DUMP,
			type == RTM_GETROUTE ? sizeof(struct rtmsg) : sizeof(struct ifinfomsg));

		header->rtgen_family = type == RTM_GETLINK ? AF_UNSPEC : AF_INET;
		listing->link_count = mark.link_count;
		listing->network_count = mark.network_count;
		r = netlink_exchange(socket, fn, listing);
	}
	return r;
}

static const char *name_of(const struct listing *listing, int index)
{
	for (size_t i = 0; i < listing->link_count; i++)
		if (listing->links[i].index == index)
			return listing->links[i].name;
	return "";
}

int link_each_network(struct link_socket *socket, link_network_fn fn, void *data, struct error *err)
{
	cleanup_with(listing_release) struct listing listing = LISTING_INIT;
	int r;

	r = dump(socket, RTM_GETLINK, add_link, &listing);
	if (r >= 0)
		r = dump(socket, RTM_GETADDR, add_address, &listing);
	if (r >= 0)
		r = dump(socket, RTM_GETROUTE, add_route, &listing);
	if (r < 0)
		return error_because(err, &reason_network, r, "cannot list networks: %s",
				     netlink_words(socket, r));

	for (size_t i = 0; i < listing.network_count; i++) {
		const struct network *network = &listing.networks[i];

		r = fn((struct in_addr){ network->address }, network->prefix,
		       name_of(&listing, network->index), data);
		if (r < 0)
			return r;
	}
	return 0;
}

int link_each(struct link_socket *socket, link_name_fn fn, void *data, struct error *err)
{
	cleanup_with(listing_release) struct listing listing = LISTING_INIT;
	int r;

	r = dump(socket, RTM_GETLINK, add_link, &listing);
	if (r < 0)
		return error_because(err, &reason_network, r, "cannot list links: %s",
				     netlink_words(socket, r));

	for (size_t i = 0; i < listing.link_count; i++) {
		r = fn(listing.links[i].name, data);
		if (r < 0)
			return r;
	}
	return 0;
}
