/* Links, addresses and routes of this host and of nodes' network namespaces, over netlink. */

#include "host/link.h"

#include <arpa/inet.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <string.h>
#include <sys/random.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/log.h"
#include "host/netlink.h"

/* The kernel would also refuse such names, but only after they had overrun our buffers. */
static int check_name(const char *name, struct error *err)
{
	if (!*name)
		return error_because(err, &reason_network, -EINVAL, "the name of a link is empty");
	if (strlen(name) >= IFNAMSIZ)
		return error_because(err, &reason_network, -ENAMETOOLONG,
				     "link name '%s' is longer than %d characters", name,
				     IFNAMSIZ - 1);
	return 0;
}

static void read_link(const struct nlmsghdr *message, void *data)
{
	(void)netlink_read_link(message, data);
}

/* Find the link NAME; -ENODEV if there is none. */
static int find_link(struct link_socket *socket, const char *name, struct netlink_link *ret,
		     struct error *err)
{
	struct netlink_link link = { 0 };
	int r;

	r = check_name(name, err);
	if (r < 0)
		return r;
	(void)netlink_begin(socket, RTM_GETLINK, 0, sizeof(struct ifinfomsg));
	mnl_attr_put_strz(netlink_request(socket), IFLA_IFNAME, name);
	r = netlink_exchange(socket, read_link, &link);
	if (r == -ENODEV)
		return error_because(err, &reason_network, r, "there is no link '%s'", name);
	if (r < 0)
		return error_because(err, &reason_network, r, "cannot find link '%s': %s", name,
				     netlink_words(socket, r));
	*ret = link;
	return 0;
}

int link_index(struct link_socket *socket, const char *name, struct error *err)
{
	struct netlink_link link;
	int r;

	r = find_link(socket, name, &link, err);
	return r < 0 ? r : link.index;
}

void link_disable_ipv6(const char *name)
{
	static const char *const settings[][2] = {
		{ "accept_ra", "0" },
		{ "autoconf", "0" },
		{ "disable_ipv6", "1" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(settings); i++) {
		cleanup_with(error_clear) struct error why = ERROR_INIT;
		cleanup_free char *path = xasprintf("/proc/sys/net/ipv6/conf/%s/%s", name,
						    settings[i][0]);
		int r = file_poke(path, settings[i][1], &why);

		if (r < 0 && r != -ENOENT)
			log_warning("%s", why.text);
	}
}

/* Without a fixed address, a bridge uses the lowest one of its ports, which changes with them. */
static void put_random_address(struct nlmsghdr *request)
{
	uint8_t address[6];

	if (getrandom(address, sizeof(address), 0) != sizeof(address))
		return;
	address[0] = (address[0] & 0xfc) | 0x02; /* unicast, locally administered */
	mnl_attr_put(request, IFLA_ADDRESS, sizeof(address), address);
}

int link_make_bridge(struct link_socket *socket, const char *name, struct error *err)
{
	struct nlattr *linkinfo;
	struct netlink_link link;
	int r;

	r = check_name(name, err);
	if (r < 0)
		return r;

	(void)netlink_begin(socket, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL,
			    sizeof(struct ifinfomsg));
	mnl_attr_put_strz(netlink_request(socket), IFLA_IFNAME, name);
	put_random_address(netlink_request(socket));
	linkinfo = mnl_attr_nest_start(netlink_request(socket), IFLA_LINKINFO);
	mnl_attr_put_strz(netlink_request(socket), IFLA_INFO_KIND, "bridge");
	mnl_attr_nest_end(netlink_request(socket), linkinfo);

	r = netlink_exchange(socket, NULL, NULL);
	if (r < 0 && r != -EEXIST)
		return error_because(err, &reason_network, r, "cannot add bridge '%s': %s", name,
				     netlink_words(socket, r));
	if (r == -EEXIST) {
		r = find_link(socket, name, &link, err);
		if (r < 0)
			return r;
		if (!link.is_bridge)
			return error_because(err, &reason_network, -EEXIST,
					     "cannot add bridge '%s': a link of that name exists",
					     name);
	}
	return 0;
}

int link_add_bridge(struct link_socket *socket, const char *name, struct error *err)
{
	int r = link_make_bridge(socket, name, err);

	if (r < 0)
		return r;
	/* Must come first: an interface that comes up sends router solicitations. */
	link_disable_ipv6(name);
	return link_up(socket, name, err);
}

bool link_is_bridge(const char *name)
{
	cleanup_with(link_closep) struct link_socket *socket = NULL;
	struct netlink_link link;

	return link_open(&socket, NULL) == 0 && find_link(socket, name, &link, NULL) == 0 &&
	       link.is_bridge;
}

/* Add the attributes of the other end of a veth pair: PEER in NETNS_FD. */
static void put_peer(struct nlmsghdr *request, const char *peer, int netns_fd)
{
	struct nlattr *linkinfo;
	struct nlattr *data;
	struct nlattr *end;

	linkinfo = mnl_attr_nest_start(request, IFLA_LINKINFO);
	mnl_attr_put_strz(request, IFLA_INFO_KIND, "veth");
	data = mnl_attr_nest_start(request, IFLA_INFO_DATA);
	end = mnl_attr_nest_start(request, VETH_INFO_PEER);
	(void)mnl_nlmsg_put_extra_header(request, sizeof(struct ifinfomsg));
	mnl_attr_put_strz(request, IFLA_IFNAME, peer);
	mnl_attr_put_u32(request, IFLA_NET_NS_FD, (uint32_t)netns_fd);
	mnl_attr_nest_end(request, end);
	mnl_attr_nest_end(request, data);
	mnl_attr_nest_end(request, linkinfo);
}

int link_add_veth(struct link_socket *socket, const char *name, const char *bridge,
		  const char *peer, int netns_fd, struct error *err)
{
	int master;
	int r;

	r = check_name(peer, err);
	if (r < 0)
		return r;
	r = link_delete(socket, name, err);
	if (r < 0)
		return r;
	master = link_index(socket, bridge, err);
	if (master < 0)
		return error_prefix(err, master, "cannot add veth pair '%s'", name);

	(void)netlink_begin(socket, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL,
			    sizeof(struct ifinfomsg));
	mnl_attr_put_strz(netlink_request(socket), IFLA_IFNAME, name);
	mnl_attr_put_u32(netlink_request(socket), IFLA_MASTER, (uint32_t)master);
	put_peer(netlink_request(socket), peer, netns_fd);

	r = netlink_exchange(socket, NULL, NULL);
	if (r < 0)
		return error_because(err, &reason_network, r,
				     "cannot add veth pair '%s' to bridge '%s': %s", name, bridge,
				     netlink_words(socket, r));
	link_disable_ipv6(name);
	return link_up(socket, name, err);
}

int link_delete(struct link_socket *socket, const char *name, struct error *err)
{
	int r;

	r = check_name(name, err);
	if (r < 0)
		return r;
	(void)netlink_begin(socket, RTM_DELLINK, 0, sizeof(struct ifinfomsg));
	mnl_attr_put_strz(netlink_request(socket), IFLA_IFNAME, name);
	r = netlink_exchange(socket, NULL, NULL);
	if (r < 0 && r != -ENODEV)
		return error_because(err, &reason_network, r, "cannot delete link '%s': %s", name,
				     netlink_words(socket, r));
	return 0;
}

int link_up(struct link_socket *socket, const char *name, struct error *err)
{
	struct ifinfomsg *info;
	int r;

	r = check_name(name, err);
	if (r < 0)
		return r;
	info = netlink_begin(socket, RTM_NEWLINK, 0, sizeof(*info));
	info->ifi_flags = IFF_UP;
	info->ifi_change = IFF_UP;
	mnl_attr_put_strz(netlink_request(socket), IFLA_IFNAME, name);
	r = netlink_exchange(socket, NULL, NULL);
	if (r < 0)
		return error_because(err, &reason_network, r, "cannot bring link '%s' up: %s", name,
				     netlink_words(socket, r));
	return 0;
}

int link_set_mac(struct link_socket *socket, const char *name, struct in_addr address,
		 struct error *err)
{
	uint8_t mac[6] = { 0x02, 0x6b }; /* unicast, locally administered */
	int r;

	memcpy(mac + 2, &address, sizeof(address));
	(void)netlink_begin(socket, RTM_NEWLINK, 0, sizeof(struct ifinfomsg));
	mnl_attr_put_strz(netlink_request(socket), IFLA_IFNAME, name);
	mnl_attr_put(netlink_request(socket), IFLA_ADDRESS, sizeof(mac), mac);
	r = netlink_exchange(socket, NULL, NULL);
	if (r < 0)
		return error_because(err, &reason_network, r,
				     "cannot set the MAC address of link '%s': %s", name,
				     netlink_words(socket, r));
	return 0;
}

int link_add_address(struct link_socket *socket, const char *name, struct in_addr address,
		     unsigned prefix, struct error *err)
{
	char text[INET_ADDRSTRLEN];
	struct ifaddrmsg *header;
	int index;
	int r;

	assert(prefix <= 32);
	index = link_index(socket, name, err);
	if (index < 0)
		return index;

	header = netlink_begin(socket, RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, sizeof(*header));
	header->ifa_family = AF_INET;
	header->ifa_prefixlen = (uint8_t)prefix;
	header->ifa_index = (unsigned)index;
	mnl_attr_put_u32(netlink_request(socket), IFA_LOCAL, address.s_addr);
	mnl_attr_put_u32(netlink_request(socket), IFA_ADDRESS, address.s_addr);

	r = netlink_exchange(socket, NULL, NULL);
	if (r < 0 && r != -EEXIST)
		return error_because(err, &reason_network, r,
				     "cannot give link '%s' the address %s/%u: %s", name,
				     inet_ntop(AF_INET, &address, text, sizeof(text)), prefix,
				     netlink_words(socket, r));
	return 0;
}

/* Begin a request of TYPE about the route to DESTINATION/PREFIX via GATEWAY. */
static struct rtmsg *begin_route(struct link_socket *socket, uint16_t type, uint16_t flags,
				 struct in_addr destination, unsigned prefix,
				 struct in_addr gateway)
{
	struct rtmsg *route = netlink_begin(socket, type, flags, sizeof(*route));

	assert(prefix <= 32);
	route->rtm_family = AF_INET;
	route->rtm_dst_len = (uint8_t)prefix;
	route->rtm_table = RT_TABLE_MAIN;
	if (prefix > 0)
		mnl_attr_put_u32(netlink_request(socket), RTA_DST, destination.s_addr);
	mnl_attr_put_u32(netlink_request(socket), RTA_GATEWAY, gateway.s_addr);
	return route;
}

/* Set ERR to "cannot WHAT the route ..." with the reason for CODE, and return CODE. */
static int route_failed(struct link_socket *socket, int code, const char *what,
			struct in_addr destination, unsigned prefix, struct in_addr gateway,
			struct error *err)
{
	char to[INET_ADDRSTRLEN];
	char via[INET_ADDRSTRLEN];

	return error_because(err, &reason_network, code, "cannot %s the route to %s/%u via %s: %s",
			     what, inet_ntop(AF_INET, &destination, to, sizeof(to)), prefix,
			     inet_ntop(AF_INET, &gateway, via, sizeof(via)),
			     netlink_words(socket, code));
}

int link_replace_route(struct link_socket *socket, struct in_addr destination, unsigned prefix,
		       struct in_addr gateway, struct error *err)
{
	struct rtmsg *route = begin_route(socket, RTM_NEWROUTE, NLM_F_CREATE | NLM_F_REPLACE,
					  destination, prefix, gateway);
	int r;

	route->rtm_protocol = RTPROT_STATIC;
	route->rtm_scope = RT_SCOPE_UNIVERSE;
	route->rtm_type = RTN_UNICAST;
	r = netlink_exchange(socket, NULL, NULL);
	if (r < 0)
		return route_failed(socket, r, "set", destination, prefix, gateway, err);
	return 0;
}

int link_delete_route(struct link_socket *socket, struct in_addr destination, unsigned prefix,
		      struct in_addr gateway, struct error *err)
{
	struct rtmsg *route = begin_route(socket, RTM_DELROUTE, 0, destination, prefix, gateway);
	int r;

	route->rtm_scope = RT_SCOPE_NOWHERE; /* matches any scope */
	r = netlink_exchange(socket, NULL, NULL);
	if (r < 0 && r != -ESRCH)
		return route_failed(socket, r, "delete", destination, prefix, gateway, err);
	return 0;
}

bool link_is_of_cluster(const char *name)
{
	return strncmp(name, "mk", 2) == 0 && strspn(name + 2, "0123456789abcdef") == 8 &&
	       (name[10] == '\0' || name[10] == '.');
}

bool link_any_of_cluster(void)
{
	struct if_nameindex *links = if_nameindex();
	bool any = false;

	for (size_t i = 0; links && links[i].if_index != 0; i++)
		any |= link_is_of_cluster(links[i].if_name);
	if (links)
		if_freenameindex(links);
	return any;
}
