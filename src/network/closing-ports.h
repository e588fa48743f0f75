/*
 * Ports of this host that a running cluster gives up when its record has changed.
 *
 * The rules that keep other machines from them go when the front door has closed them; meanwhile,
 * net.ipv4.conf.all.route_localnet would let those in.
 */
#pragma once

#include "record/profile.h"

struct closing_ports {
	struct strlist published; /* "127.0.0.1:8080" */
	unsigned registry;        /* 0: it stays */
};

#define CLOSING_PORTS_INIT ((struct closing_ports){ .published = STRLIST_INIT })

/* Find the ports that the running front door has and PROFILE does not. */
void closing_ports_find(const struct profile *profile, struct closing_ports *ret);

/* Bring up the network of PROFILE with the rules for PORTS, too, and lead no node to a registry
 * that closes. */
int closing_ports_begin(const struct profile *profile, const struct closing_ports *ports,
			struct error *err);

/* Wait until the front door, which has its new configuration, has closed PORTS, and drop their
 * rules.  If a port stays open, so do its rules stay, with a warning. */
int closing_ports_end(const struct profile *profile, const struct closing_ports *ports,
		      struct error *err);

void closing_ports_release(struct closing_ports *ports);
