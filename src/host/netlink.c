/* Requests to the kernel's rtnetlink, and answers. */

#include "host/netlink.h"

#include <fcntl.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

int link_open(struct link_socket **ret_socket, struct error *err)
{
	cleanup_with(link_closep) struct link_socket *socket = xcalloc(1, sizeof(*socket));
	int on = 1;

	socket->socket = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC);
	if (!socket->socket)
		return error_reason(err, error_sys(err, "cannot open a netlink socket"),
				    &reason_network);
	if (mnl_socket_bind(socket->socket, 0, MNL_SOCKET_AUTOPID) < 0)
		return error_reason(err, error_sys(err, "cannot bind a netlink socket"),
				    &reason_network);

	/* Optional: better error messages. */
	(void)mnl_socket_setsockopt(socket->socket, NETLINK_CAP_ACK, &on, sizeof(on));
	(void)mnl_socket_setsockopt(socket->socket, NETLINK_EXT_ACK, &on, sizeof(on));

	*ret_socket = take_ptr(socket);
	return 0;
}

/* Enter the network namespace NETNS_FD; RET_OWN is the one to return to. */
static int enter_network(int netns_fd, int *ret_own, struct error *err)
{
	cleanup_fd int own = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);

	if (own < 0)
		return error_sys(err, "cannot open '/proc/thread-self/ns/net'");
	if (setns(netns_fd, CLONE_NEWNET) < 0)
		return error_reason(err, error_sys(err, "cannot enter a network namespace"),
				    &reason_network);
	*ret_own = take_fd(own);
	return 0;
}

static void return_to_network(int own)
{
	/* Continuing in the wrong network namespace is worse than aborting. */
	if (setns(own, CLONE_NEWNET) < 0)
		abort();
}

int link_open_in(int netns_fd, struct link_socket **ret_socket, struct error *err)
{
	cleanup_fd int own = -1;
	int r = enter_network(netns_fd, &own, err);

	if (r < 0)
		return r;
	r = link_open(ret_socket, err);
	return_to_network(own);
	return r;
}

/* Wait until the pending connection of FD is established. */
static int await_connection(int fd, int timeout_ms, struct error *err)
{
	struct pollfd poller = { .fd = fd, .events = POLLOUT };
	socklen_t len = sizeof(errno);
	int r = TEMP_FAILURE_RETRY(poll(&poller, 1, timeout_ms));

	if (r == 0)
		errno = ETIMEDOUT;
	else if (r > 0 && getsockopt(fd, SOL_SOCKET, SO_ERROR, &errno, &len) == 0 &&
		 (errno == 0 || errno == ECONNRESET))
		return 0;
	return error_sys(err, "cannot connect");
}

int link_try_in(int netns_fd, struct in_addr address, unsigned port, int timeout_ms,
		struct error *err)
{
	const struct sockaddr_in to = {
		.sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
		.sin_addr = address,
	};
	cleanup_fd int own = -1;
	cleanup_fd int fd = -1;
	int r = enter_network(netns_fd, &own, err);

	if (r < 0)
		return r;
	/* The socket stays in the network namespace in which it is made. */
	fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	return_to_network(own);
	if (fd < 0)
		return error_sys(err, "cannot make a socket");
	if (connect(fd, (const struct sockaddr *)&to, sizeof(to)) == 0)
		return 0;
	return errno == EINPROGRESS ? await_connection(fd, timeout_ms, err)
				    : error_sys(err, "cannot connect");
}

void link_close(struct link_socket *socket)
{
	if (socket->socket)
		(void)mnl_socket_close(socket->socket);
	free(socket->why);
	free(socket);
}

void *netlink_begin(struct link_socket *socket, uint16_t type, uint16_t flags, size_t len)
{
	struct nlmsghdr *request = mnl_nlmsg_put_header(socket->request);

	request->nlmsg_type = type;
	request->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | flags;
	request->nlmsg_seq = ++socket->sequence;
	return mnl_nlmsg_put_extra_header(request, len);
}

struct nlmsghdr *netlink_request(struct link_socket *socket)
{
	return (struct nlmsghdr *)socket->request;
}

static int keep_words(const struct nlattr *attr, void *data)
{
	char **why = data;

	if (mnl_attr_get_type(attr) == NLMSGERR_ATTR_MSG && !*why &&
	    mnl_attr_validate(attr, MNL_TYPE_NUL_STRING) >= 0)
		*why = xstrdup(mnl_attr_get_str(attr));
	return MNL_CB_OK;
}

/* The error code in MESSAGE, an acknowledgement; stores the error text in it, if any. */
static int acknowledged(struct link_socket *socket, const struct nlmsghdr *message)
{
	const struct nlmsgerr *ack = mnl_nlmsg_get_payload(message);

	if (mnl_nlmsg_get_payload_len(message) < sizeof(*ack))
		return -EBADMSG;
	if (ack->error < 0 && (message->nlmsg_flags & NLM_F_ACK_TLVS) &&
	    (message->nlmsg_flags & NLM_F_CAPPED))
		(void)mnl_attr_parse(message, sizeof(*ack), keep_words, &socket->why);
	return ack->error;
}

int netlink_exchange(struct link_socket *socket, netlink_answer_fn fn, void *data)
{
	const struct nlmsghdr *request = netlink_request(socket);
	bool interrupted = false;

	free(take_ptr(socket->why));
	if (mnl_socket_sendto(socket->socket, request, request->nlmsg_len) < 0)
		return -errno;

	for (;;) {
		const struct nlmsghdr *message = (const struct nlmsghdr *)socket->answer;
		ssize_t got = mnl_socket_recvfrom(socket->socket, socket->answer,
						  sizeof(socket->answer));
		int len = (int)got;

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		for (; mnl_nlmsg_ok(message, len); message = mnl_nlmsg_next(message, &len)) {
			if (message->nlmsg_seq != socket->sequence)
				continue;
			if (message->nlmsg_flags & NLM_F_DUMP_INTR)
				interrupted = true;
			if (message->nlmsg_type == NLMSG_ERROR)
				return acknowledged(socket, message);
			if (message->nlmsg_type == NLMSG_DONE)
				return interrupted ? -EINTR : 0;
			if (fn && message->nlmsg_type >= NLMSG_MIN_TYPE)
				fn(message, data);
		}
	}
}

const char *netlink_words(const struct link_socket *socket, int code)
{
	return socket->why ? socket->why : strerror(-code);
}

static int read_kind(const struct nlattr *attr, void *data)
{
	struct netlink_link *link = data;

	if (mnl_attr_get_type(attr) == IFLA_INFO_KIND &&
	    mnl_attr_validate(attr, MNL_TYPE_NUL_STRING) >= 0)
		link->is_bridge = strcmp(mnl_attr_get_str(attr), "bridge") == 0;
	return MNL_CB_OK;
}

static int read_link_attr(const struct nlattr *attr, void *data)
{
	struct netlink_link *link = data;

	switch (mnl_attr_get_type(attr)) {
	case IFLA_IFNAME:
		if (mnl_attr_validate(attr, MNL_TYPE_NUL_STRING) >= 0)
			(void)snprintf(link->name, sizeof(link->name), "%s",
				       mnl_attr_get_str(attr));
		break;
	case IFLA_LINKINFO:
		(void)mnl_attr_parse_nested(attr, read_kind, link);
		break;
	default:
		break;
	}
	return MNL_CB_OK;
}

bool netlink_read_link(const struct nlmsghdr *message, struct netlink_link *ret)
{
	const struct ifinfomsg *info = mnl_nlmsg_get_payload(message);

	if (message->nlmsg_type != RTM_NEWLINK ||
	    mnl_nlmsg_get_payload_len(message) < sizeof(*info))
		return false;
	*ret = (struct netlink_link){ .index = info->ifi_index };
	(void)mnl_attr_parse(message, sizeof(*info), read_link_attr, ret);
	return true;
}
