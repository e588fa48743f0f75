/*
 * The CPUs of a native node.
 *
 * A node with fewer CPUs than the host runs on that many CPUs of the host and sees no others, so
 * that programs that count CPUs by affinity (nproc, Go, the JVM) find the right number.  Nodes are
 * spread over the host's CPUs by slot, clusters by name.  The quota of the control group limits
 * nodes that share CPUs.
 */
#pragma once

#include "cgroup/cpus.h"
#include "driver/driver.h"

struct native_cpus {
	struct cpus ids; /* the CPUs that the node sees; empty: all of the host */
	size_t real;     /* how many of them exist: the first ones */
	bool pinned;     /* the node runs on the existing ones only */
};

#define NATIVE_CPUS_INIT ((struct native_cpus){ CPUS_INIT })

/* Choose the CPUs of the node SPEC, whose control group is GROUP. */
void native_cpus_choose(const struct node_spec *spec, const char *group, struct native_cpus *ret);

/* The same from HAVE, the CPUs available to the group (empty if unknown), and ONLINE, the number of
 * the host's CPUs. */
void native_cpus_pick(const struct node_spec *spec, const struct cpus *have, unsigned online,
		      struct native_cpus *ret);

void native_cpus_release(struct native_cpus *cpus);
