/*
 * IPv6 on links: settings, addresses, routes.  A struct link_socket belongs to the network
 * namespace in which it was opened, and settings to that of the caller.  All calls may be repeated.
 */
#pragma once

#include "data/inet6.h"
#include "host/link.h"

/*
 * Turn on IPv6 on the link NAME in the caller's network namespace.  Whoever is behind it cannot
 * change this host's addresses and routes: router advertisements and redirects are ignored, also if
 * other links heed them.  Fails on a kernel without IPv6.
 */
int link6_enable(const char *name, struct error *err);

/* Like link_add_bridge(), but with IPv6 as link6_enable() sets it. */
int link6_add_bridge(struct link_socket *socket, const char *name, struct error *err);

/* Add ADDRESS/PREFIX to the link NAME, usable at once: nobody else can have it.  Succeeds if the
 * link has it. */
int link6_add_address(struct link_socket *socket, const char *name, const struct in6_addr *address,
		      unsigned prefix, struct error *err);

/* Route TO (::/0: the default) via GATEWAY, replacing an existing route. */
int link6_replace_route(struct link_socket *socket, const struct subnet6 *to,
			const struct in6_addr *gateway, struct error *err);

/* Delete the route to TO via GATEWAY; succeeds if there is none. */
int link6_delete_route(struct link_socket *socket, const struct subnet6 *to,
		       const struct in6_addr *gateway, struct error *err);

/* Call FN for the network of every IPv6 address of a link, and of every route in any table, except
 * default routes and link-local ones.  LINK is "" for a route over several links.  A negative
 * result of FN ends the walk and is returned; ERR is not set. */
typedef int (*link6_network_fn)(const struct subnet6 *network, const char *link, void *data);
int link6_each_network(struct link_socket *socket, link6_network_fn fn, void *data,
		       struct error *err);
