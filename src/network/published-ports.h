/* The ports of this host that a cluster publishes (--ports), changed at any time. */
#pragma once

#include "record/profile.h"

/* -EADDRINUSE with reason_port_taken if WORDS lead one port of this host to different ports of
 * nodes, of which only one would be published, or if cluster PROFILE itself uses one of them. */
int published_ports_check(const struct profile *profile, const struct strlist *words,
			  struct error *err);

/*
 * Publish WORDS, ports as in record/spec.h that are valid for PROFILE.  The front door of a running
 * cluster listens there when this returns; a stopped cluster publishes them when it starts.  Words
 * that it has already are no error.
 *
 * -EADDRINUSE with reason_port_taken, and nothing is changed, if the cluster itself or another
 * program uses one of them.  Returns how many were added.
 */
int published_ports_add(struct profile *profile, const struct strlist *words, struct error *err);

/* The reverse: WORDS need only the port of this host, with its address.  -ENOENT with reason_usage,
 * and nothing is changed, if one of them is neither published nor open in the running front door,
 * where an interrupted removal leaves it. */
int published_ports_remove(struct profile *profile, const struct strlist *words, struct error *err);
