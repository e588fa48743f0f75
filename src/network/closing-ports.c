/* Ports of this host that a running cluster gives up. */

#include "network/closing-ports.h"

#include <arpa/inet.h>
#include <string.h>

#include "balancer/balancer.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "network/network.h"
#include "network/own-registry.h"
#include "record/spec.h"
#include "record/world.h"

#define WAIT_MS 5000
#define POLL_MS 20

/* Whether PROFILE has rules for PORT, at whatever address. */
static bool keeps_port(const struct profile *profile, unsigned port)
{
	const char *word;

	if (port == profile->api_port || port == profile->registry_port)
		return true;
	strlist_for_each(word, &profile->ports) {
		struct port_spec had;

		if (spec_parse_port(word, &had, NULL) == 0 && had.host_port == port)
			return true;
	}
	return false;
}

void closing_ports_find(const struct profile *profile, struct closing_ports *ret)
{
	cleanup_with(strlist_release) struct strlist published = STRLIST_INIT;
	unsigned registry = balancer_registry_port(profile->dir);
	const char *address;

	*ret = CLOSING_PORTS_INIT;
	if (registry != profile->registry_port)
		ret->registry = registry;
	balancer_list_published(profile->dir, &published);
	strlist_for_each(address, &published) {
		struct port_spec port;

		if (spec_parse_port(address, &port, NULL) == 0 &&
		    !keeps_port(profile, port.host_port))
			strlist_add(&ret->published, address);
	}
}

int closing_ports_begin(const struct profile *profile, const struct closing_ports *ports,
			struct error *err)
{
	cleanup_with(strlist_release) struct strlist words = STRLIST_INIT;
	struct profile wider = *profile;
	int r = 0;

	if (ports->registry)
		r = own_registry_tell_nodes(profile, 0, err);
	if (profile->ports.count > 0)
		strlist_add_all(&words, profile->ports.items);
	if (ports->published.count > 0)
		strlist_add_all(&words, ports->published.items);
	if (ports->registry)
		strlist_addf(&words, "%u", ports->registry);
	wider.ports = words;
	return r < 0 ? r : world->network_up(&wider, err);
}

/* Wait until nobody listens at PORT of ADDRESS. */
static bool wait_for_end(struct in_addr address, unsigned port, int64_t deadline_ms)
{
	while (!network_port_is_free(address, port))
		if (!clock_poll(deadline_ms, POLL_MS)) {
			log_warning("port %u is still open; other machines are kept from it", port);
			return false;
		}
	return true;
}

int closing_ports_end(const struct profile *profile, const struct closing_ports *ports,
		      struct error *err)
{
	const struct in_addr loopback = { htonl(INADDR_LOOPBACK) };
	int64_t deadline_ms = clock_now_ms() + WAIT_MS;
	const char *address;
	bool closed = true;

	if (!ports->registry && ports->published.count == 0)
		return 0;
	strlist_for_each(address, &ports->published) {
		struct port_spec port;

		if (spec_parse_port(address, &port, NULL) == 0)
			closed = wait_for_end(port.address, port.host_port, deadline_ms) && closed;
	}
	if (ports->registry)
		closed = wait_for_end(loopback, ports->registry, deadline_ms) && closed;
	return closed ? world->network_up(profile, err) : 0;
}

void closing_ports_release(struct closing_ports *ports)
{
	strlist_release(&ports->published);
	*ports = CLOSING_PORTS_INIT;
}
