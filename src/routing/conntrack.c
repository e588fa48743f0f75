/*
 * The kernel's connection tracking table, over nfnetlink.
 *
 * All connections are listed first; then those that match are removed, each by its original tuple
 * and zone.  The table must not be changed while it is being listed.
 */

#include "routing/conntrack.h"

#include <libmnl/libmnl.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_conntrack.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/log.h"

#define BUFFER_BYTES 32768

/* Copies of the attributes that identify a connection in a request to remove it. */
struct victim {
	struct nlattr *tuple;
	struct nlattr *zone; /* NULL for the default zone */
};

struct search {
	const struct subnet *subnets;
	size_t subnet_count;
	const struct subnet6 *subnet6; /* may be NULL */
	bool strangers_only;           /* see conntrack_forget_strangers() */
	struct victim *found;
	size_t count;
};

static void release_search(struct search *search)
{
	for (size_t i = 0; i < search->count; i++) {
		free(search->found[i].tuple);
		free(search->found[i].zone);
	}
	free(search->found);
}

static void close_socket(struct mnl_socket **socket)
{
	if (*socket)
		(void)mnl_socket_close(*socket);
}

static struct nlattr *copy_attribute(const struct nlattr *attr)
{
	struct nlattr *copy = xmalloc(attr->nla_len);

	memcpy(copy, attr, attr->nla_len);
	return copy;
}

static bool is_wanted(const struct search *search, const struct nlattr *address)
{
	struct in6_addr in6;
	struct in_addr in;

	if (mnl_attr_get_payload_len(address) == sizeof(in6)) {
		memcpy(&in6, mnl_attr_get_payload(address), sizeof(in6));
		return search->subnet6 && inet6_contains(search->subnet6, &in6);
	}
	if (mnl_attr_get_payload_len(address) != sizeof(in))
		return false;
	memcpy(&in, mnl_attr_get_payload(address), sizeof(in));
	for (size_t i = 0; i < search->subnet_count; i++)
		if (inet_contains(&search->subnets[i], in))
			return true;
	return false;
}

/* Whether the address of type V4, or of type V6, in TUPLE is in one of the subnets. */
static bool tuple_matches(const struct search *search, const struct nlattr *tuple, unsigned v4,
			  unsigned v6)
{
	struct nlattr *part;
	struct nlattr *address;

	mnl_attr_for_each_nested(part, tuple) {
		if (mnl_attr_get_type(part) != CTA_TUPLE_IP)
			continue;
		mnl_attr_for_each_nested(address, part) {
			unsigned type = mnl_attr_get_type(address);

			if ((type == v4 || type == v6) && is_wanted(search, address))
				return true;
		}
	}
	return false;
}

/* Whether a connection with these two tuples is to be removed. */
static bool is_victim(const struct search *search, const struct nlattr *original,
		      const struct nlattr *reply)
{
	bool from = tuple_matches(search, original, CTA_IP_V4_SRC, CTA_IP_V6_SRC);
	bool to = tuple_matches(search, original, CTA_IP_V4_DST, CTA_IP_V6_DST);
	bool reply_from = tuple_matches(search, reply, CTA_IP_V4_SRC, CTA_IP_V6_SRC);
	bool reply_to = tuple_matches(search, reply, CTA_IP_V4_DST, CTA_IP_V6_DST);

	if (search->strangers_only && from && (to || !reply_to))
		return false;
	return from || to || reply_from || reply_to;
}

static int note_connection(const struct nlmsghdr *message, void *data)
{
	struct search *search = data;
	const struct nlattr *original = NULL;
	const struct nlattr *reply = NULL;
	const struct nlattr *zone = NULL;
	struct nlattr *attr;

	mnl_attr_for_each(attr, message, sizeof(struct nfgenmsg)) {
		unsigned type = mnl_attr_get_type(attr);

		if (type == CTA_TUPLE_ORIG)
			original = attr;
		if (type == CTA_TUPLE_REPLY)
			reply = attr;
		if (type == CTA_ZONE)
			zone = attr;
	}
	if (!original || !reply || !is_victim(search, original, reply))
		return MNL_CB_OK;
	search->found = xrealloc(search->found, search->count + 1, sizeof(*search->found));
	search->found[search->count++] = (struct victim){
		.tuple = copy_attribute(original),
		.zone = zone ? copy_attribute(zone) : NULL,
	};
	return MNL_CB_OK;
}

static struct nlmsghdr *begin_request(void *buffer, uint8_t family, unsigned type, uint16_t flags,
				      unsigned sequence)
{
	struct nlmsghdr *request = mnl_nlmsg_put_header(buffer);
	struct nfgenmsg *header;

	request->nlmsg_type = (uint16_t)(NFNL_SUBSYS_CTNETLINK << 8 | type);
	request->nlmsg_flags = NLM_F_REQUEST | flags;
	request->nlmsg_seq = sequence;
	header = mnl_nlmsg_put_extra_header(request, sizeof(*header));
	header->nfgen_family = family;
	header->version = NFNETLINK_V0;
	return request;
}

/* Send REQUEST and add matching connections in the answers to SEARCH (may be NULL); 0 or a negative
 * errno. */
static int exchange(struct mnl_socket *socket, const struct nlmsghdr *request,
		    struct search *search)
{
	static char buffer[BUFFER_BYTES] __attribute__((__aligned__(8)));
	ssize_t len;
	int r = MNL_CB_OK;

	if (mnl_socket_sendto(socket, request, request->nlmsg_len) < 0)
		return -errno;
	while (r > MNL_CB_STOP) {
		len = mnl_socket_recvfrom(socket, buffer, sizeof(buffer));
		if (len < 0)
			return -errno;
		r = mnl_cb_run(buffer, (size_t)len, request->nlmsg_seq,
			       mnl_socket_get_portid(socket), search ? note_connection : NULL,
			       search);
		if (r < 0)
			return -errno;
	}
	return 0;
}

static int open_socket(struct mnl_socket **ret, struct error *err)
{
	cleanup_with(close_socket) struct mnl_socket *socket = mnl_socket_open2(NETLINK_NETFILTER,
										SOCK_CLOEXEC);

	if (!socket || mnl_socket_bind(socket, 0, MNL_SOCKET_AUTOPID) < 0)
		return error_sys(err, "cannot open a netlink socket");
	*ret = take_ptr(socket);
	return 0;
}

static int remove_connection(struct mnl_socket *socket, uint8_t family, const struct victim *victim,
			     unsigned sequence)
{
	char buffer[1024] __attribute__((__aligned__(8)));
	struct nlmsghdr *request = begin_request(buffer, family, IPCTNL_MSG_CT_DELETE, NLM_F_ACK,
						 sequence);
	int r;

	mnl_attr_put(request, CTA_TUPLE_ORIG | NLA_F_NESTED,
		     mnl_attr_get_payload_len(victim->tuple), mnl_attr_get_payload(victim->tuple));
	if (victim->zone)
		mnl_attr_put(request, CTA_ZONE, mnl_attr_get_payload_len(victim->zone),
			     mnl_attr_get_payload(victim->zone));
	r = exchange(socket, request, NULL);
	/* The connection may have ended in the meantime. */
	return r == -ENOENT ? 0 : r;
}

static int forget_family(struct search *search, uint8_t family, struct error *err)
{
	cleanup_with(close_socket) struct mnl_socket *socket = NULL;
	char buffer[256] __attribute__((__aligned__(8)));
	int r = open_socket(&socket, err);

	if (r < 0)
		return r;
	r = exchange(socket, begin_request(buffer, family, IPCTNL_MSG_CT_GET, NLM_F_DUMP, 1),
		     search);
	if (r == -EOPNOTSUPP || r == -EINVAL || r == -ENOENT) {
		log_debug("this kernel cannot list connections: %s", strerror(-r));
		return 0;
	}
	for (size_t i = 0; r == 0 && i < search->count; i++)
		r = remove_connection(socket, family, &search->found[i], (unsigned)i + 2);
	return r < 0 ? error_set(err, r, "cannot remove connections: %s", strerror(-r)) : 0;
}

static int forget(struct search *all, struct error *err)
{
	static const uint8_t families[] = { AF_INET, AF_INET6 };
	int r = 0;

	for (size_t i = 0; r == 0 && i < (all->subnet6 ? 2 : 1); i++) {
		cleanup_with(release_search) struct search search = *all;

		r = forget_family(&search, families[i], err);
	}
	return r;
}

int conntrack_forget(const struct subnet *subnets, size_t count, const struct subnet6 *subnet6,
		     struct error *err)
{
	struct search search = { .subnets = subnets, .subnet_count = count, .subnet6 = subnet6 };

	return forget(&search, err);
}

int conntrack_forget_strangers(const struct subnet *subnets, size_t count,
			       const struct subnet6 *subnet6, struct error *err)
{
	struct search search = { .subnets = subnets,
				 .subnet_count = count,
				 .subnet6 = subnet6,
				 .strangers_only = true };

	return forget(&search, err);
}
