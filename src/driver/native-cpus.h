/*
 * Which CPUs a native node has.
 *
 * A node with fewer CPUs than the host runs on so many of the host's and sees no others, so that
 * programs that count them by their affinity (nproc, Go, the JVM) find what it was given.  Nodes
 * are spread over the host's CPUs by their slots, and clusters by their names; with the quota that
 * the control group has besides, nodes that share CPUs get their share of these.
 */
#pragma once

#include "cgroup/cpus.h"
#include "driver/driver.h"

struct native_cpus {
	struct cpus ids; /* what the node sees; none: all that the host has */
	size_t real;     /* so many of these, the first, exist */
	bool pinned;     /* the node is to run on these only */
};

#define NATIVE_CPUS_INIT ((struct native_cpus){ CPUS_INIT })

/* Choose the CPUs of the node SPEC, whose control group GROUP is. */
void native_cpus_choose(const struct node_spec *spec, const char *group, struct native_cpus *ret);

/* The same from the CPUs that the group can have, none if that is not known, and those that the
 * host has online. */
void native_cpus_pick(const struct node_spec *spec, const struct cpus *have, unsigned online,
		      struct native_cpus *ret);

void native_cpus_release(struct native_cpus *cpus);
