/*
 * Asking a cluster's DNS from inside one of its pods.
 *
 * Every question leaves from a socket of its own: one that was sent before the service
 * existed would keep its way past it for as long as it is repeated.
 */
#pragma once

#include "record/profile.h"

#define ASK_DNS_OPEN 8

struct ask_dns {
	int own_network;
	unsigned next_pod;
	unsigned next_socket;
	int sockets[ASK_DNS_OPEN];
};

int ask_dns_init(struct ask_dns *ask, struct error *err);
void ask_dns_release(struct ask_dns *ask);

/* Ask the DNS of PROFILE's cluster for the API's service, from one pod after the other; false as
 * long as there is no pod, or no answer to any question so far. */
bool ask_dns_try(struct ask_dns *ask, const struct profile *profile);
