/* The ports of this host that a cluster uses. */

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <string.h>
#include <sys/socket.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "data/inet.h"
#include "network/network.h"
#include "network/port-holder.h"
#include "record/spec.h"

/* Bind to PORT of ADDRESS for a moment; returns 0 or -errno.  FREELY: the host need not have the
 * address yet. */
static int try_port(struct in_addr address, unsigned port, bool freely)
{
	struct sockaddr_in name = {
		.sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
		.sin_addr = address,
	};
	cleanup_fd int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int on = 1;

	if (fd >= 0 && freely)
		(void)setsockopt(fd, IPPROTO_IP, IP_FREEBIND, &on, sizeof(on));
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0 ||
	    bind(fd, (struct sockaddr *)&name, sizeof(name)) < 0)
		return -errno;
	return 0;
}

bool network_port_is_free(struct in_addr address, unsigned port)
{
	return try_port(address, port, false) == 0;
}

static int need_port_of(struct in_addr address, bool freely, unsigned port, const char *option,
			struct error *err)
{
	int r = try_port(address, port, freely);
	cleanup_free char *holder = NULL;
	cleanup_free char *text = NULL;

	if (r == 0)
		return 0;
	text = inet_print_address(address);
	if (r == -EADDRINUSE) {
		holder = port_holder(address, port);
		return error_because(err, &reason_port_taken, r, "%s: port %u of %s is in use%s%s",
				     option, port, text, holder ? " by " : "",
				     holder ? holder : "");
	}
	(void)error_because(err, &reason_port_taken, -EADDRINUSE,
			    "%s: port %u of %s cannot be used: %s", option, port, text,
			    r == -EADDRNOTAVAIL ? "this host does not have that address"
						: strerror(-r));
	return error_hint(
		err, -EADDRINUSE,
		r == -EADDRNOTAVAIL
			? "use an address that 'ip address' lists, or 0.0.0.0 for all of them"
			: "choose another port or address");
}

static int need_port(struct in_addr address, unsigned port, const char *option, struct error *err)
{
	return need_port_of(address, false, port, option, err);
}

bool network_publishes(const struct profile *profile, const struct in_addr *address, unsigned port)
{
	const char *word;

	strlist_for_each(word, &profile->ports) {
		struct port_spec had;

		if (spec_parse_port(word, &had, NULL) == 0 && had.host_port == port &&
		    (!address || had.address.s_addr == address->s_addr ||
		     had.address.s_addr == INADDR_ANY))
			return true;
	}
	return false;
}

/* Like need_port(), for PORT of all addresses of this host, at one of which BEFORE listens. */
static int need_wider_port(const struct profile *before, unsigned port, struct error *err)
{
	struct ifaddrs *all = NULL;
	int r = 0;

	if (getifaddrs(&all) < 0)
		return error_sys(err, "cannot list this host's addresses");
	for (const struct ifaddrs *a = all; a && r == 0; a = a->ifa_next) {
		struct in_addr address;

		if (!a->ifa_addr || a->ifa_addr->sa_family != AF_INET)
			continue;
		address = ((const struct sockaddr_in *)a->ifa_addr)->sin_addr;
		if (!network_publishes(before, &address, port))
			r = need_port(address, port, "--ports", err);
	}
	freeifaddrs(all);
	return r;
}

/* Like need_port(), for PORT, which the front door of BEFORE (may be NULL) gives up for it if it
 * has it. */
static int need_published_port(const struct port_spec *port, const struct profile *before,
			       struct error *err)
{
	if (before && network_publishes(before, &port->address, port->host_port))
		return 0;
	if (before && port->address.s_addr == INADDR_ANY &&
	    network_publishes(before, NULL, port->host_port))
		return need_wider_port(before, port->host_port, err);
	return need_port(port->address, port->host_port, "--ports", err);
}

/* Neither another program nor this cluster uses the port of its registry. */
static int need_registry_port(const struct profile *profile, struct error *err)
{
	const struct in_addr loopback = { htonl(INADDR_LOOPBACK) };
	struct in_addr gateway;
	int r;

	if (profile->registry_port == profile->api_port ||
	    network_publishes(profile, &loopback, profile->registry_port))
		return error_because(err, &reason_port_taken, -EADDRINUSE,
				     "registry: port %u is in use by this cluster itself, for %s",
				     profile->registry_port,
				     profile->registry_port == profile->api_port ? "its API"
										 : "--ports");
	r = need_port(loopback, profile->registry_port, "registry", err);
	/* Any user can listen at an address that the host will have. */
	if (r == 0 && profile->gateway && inet_parse_address(profile->gateway, &gateway, NULL) == 0)
		r = need_port_of(gateway, true, profile->registry_port, "registry", err);
	return r;
}

int network_ports_are_free(const struct profile *profile, const struct profile *before,
			   struct error *err)
{
	const struct in_addr loopback = { htonl(INADDR_LOOPBACK) };
	const char *word;
	int r = 0;

	if (!before || before->api_port != profile->api_port)
		r = need_port(loopback, profile->api_port, "--apiserver-port", err);
	if (r == 0 && profile->registry_port &&
	    (!before || before->registry_port != profile->registry_port))
		r = need_registry_port(profile, err);
	strlist_for_each(word, &profile->ports) {
		struct port_spec port;

		if (r == 0)
			r = spec_parse_port(word, &port, err);
		if (r == 0)
			r = need_published_port(&port, before, err);
	}
	return r;
}
