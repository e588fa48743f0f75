/*
 * Delays of packets to nodes: queues of this host's kernel (netem) at the ports of the cluster's
 * bridge, made with the program `tc`.  They go with their ports, that is, when a node ends, and
 * are made again when it starts.
 */
#pragma once

#include "fail/failure.h"

/* -ENOTSUP with reason_host_unsupported unless this host can delay packets; tried out in a network
 * namespace of its own. */
int delay_probe(struct error *err);

/* Delay packets to LINK, a port of a bridge, by DELAY_MS and up to JITTER_MS more or less; 0: do
 * not.  Succeeds if there is no such link. */
int delay_set(const char *link, unsigned delay_ms, unsigned jitter_ms, struct error *err);

/* Make the delays of the nodes NAMES what the record PROFILE says. */
int delay_apply(const struct profile *profile, const struct strlist *names, struct error *err);
