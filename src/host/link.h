/*
 * Links, addresses and routes of this host and of nodes' network namespaces, over netlink.
 *
 * A struct link_socket belongs to the network namespace in which it was opened.  All calls may be
 * repeated: adding something that exists and removing something that is missing succeed.
 */
#pragma once

#include <netinet/in.h>
#include <stdbool.h>

#include "base/cleanup.h"
#include "base/error.h"

struct link_socket;

int link_open(struct link_socket **ret_socket, struct error *err);

/* Open a socket in the network namespace NETNS_FD; the caller stays in its own. */
int link_open_in(int netns_fd, struct link_socket **ret_socket, struct error *err);

/* Try to connect to PORT of ADDRESS from the network namespace NETNS_FD.  Returns 0, also if the
 * connection is reset after that, -ETIMEDOUT, -ECONNREFUSED or another errno of connect(). */
int link_try_in(int netns_fd, struct in_addr address, unsigned port, int timeout_ms,
		struct error *err);
void link_close(struct link_socket *socket);
DEFINE_CLEANUP(struct link_socket *, link_close)

/* The index of link NAME; -ENODEV if there is none. */
int link_index(struct link_socket *socket, const char *name, struct error *err);

/*
 * Turn off IPv6, including router advertisements, on the link NAME in the caller's network
 * namespace.  Does nothing on a kernel without IPv6.  Warns if /proc/sys cannot be written.
 */
void link_disable_ipv6(const char *name);

/* Add the bridge NAME, without IPv6, and bring it up.  Succeeds if the bridge exists; -EEXIST if
 * NAME is another kind of link. */
int link_add_bridge(struct link_socket *socket, const char *name, struct error *err);

/* The same, but a new bridge is down, and IPv6 is as the host's defaults have it. */
int link_make_bridge(struct link_socket *socket, const char *name, struct error *err);

/*
 * Add a veth pair: NAME here, attached to BRIDGE, without IPv6 and up; PEER in the
 * network namespace NETNS_FD, down.  An old link NAME is removed first.
 */
int link_add_veth(struct link_socket *socket, const char *name, const char *bridge,
		  const char *peer, int netns_fd, struct error *err);

/* Whether the link NAME in the caller's network namespace is a bridge; false if unknown. */
bool link_is_bridge(const char *name);

/* Delete the link NAME; succeeds if there is none. */
int link_delete(struct link_socket *socket, const char *name, struct error *err);

int link_up(struct link_socket *socket, const char *name, struct error *err);

/* Give the link NAME, which is down, the MAC address that stands for ADDRESS: always the same one,
 * so that neighbours who know it need not learn another. */
int link_set_mac(struct link_socket *socket, const char *name, struct in_addr address,
		 struct error *err);

/* Add the address ADDRESS/PREFIX to the link NAME; succeeds if the link has it. */
int link_add_address(struct link_socket *socket, const char *name, struct in_addr address,
		     unsigned prefix, struct error *err);

/* Route DESTINATION/PREFIX (0.0.0.0/0: the default) via GATEWAY, replacing an existing route. */
int link_replace_route(struct link_socket *socket, struct in_addr destination, unsigned prefix,
		       struct in_addr gateway, struct error *err);

/* Delete the route to DESTINATION/PREFIX via GATEWAY; succeeds if there is none. */
int link_delete_route(struct link_socket *socket, struct in_addr destination, unsigned prefix,
		      struct in_addr gateway, struct error *err);

/*
 * Call FN for every IPv4 network of a link and of a route in any table, except default routes.  The
 * same network may occur several times.  LINK is "" for a route over several links.  A negative
 * result of FN ends the walk and is returned; ERR is not set.
 */
typedef int (*link_network_fn)(struct in_addr network, unsigned prefix, const char *link,
			       void *data);
int link_each_network(struct link_socket *socket, link_network_fn fn, void *data,
		      struct error *err);

/* Call FN for every link; a negative result of FN ends the walk and is returned. */
typedef int (*link_name_fn)(const char *name, void *data);
int link_each(struct link_socket *socket, link_name_fn fn, void *data, struct error *err);

/* Whether NAME is the name of a cluster's bridge or of one of its ports: mkXXXXXXXX[.N]. */
bool link_is_of_cluster(const char *name);

/* Whether this host has a link of any cluster, of any user and home. */
bool link_any_of_cluster(void);
