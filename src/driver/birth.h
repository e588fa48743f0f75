/*
 * The birth of a node whose processes run on this host's kernel, in namespaces of their own.
 *
 *  1. A first child arranges the mounts, enters the node's control group and its user namespace,
 *     unshares the other namespaces, and forks a process in them.
 *  2. That process builds the node's root file system, while the network is connected from outside.
 *  3. If the node has its own pid namespace, the process is PID 1.  It waits until its pid is
 *     recorded, confines itself (host/confine.h) and executes the agent.  If the node is in a
 *     container, whose PID 1 waits (agent/enter.h), PID 1 is told to take its place.
 *
 * Should we end before that, the processes end as well.
 */
#pragma once

#include "driver/driver.h"

/* How a node is to be born. */
struct birth_place {
	const char *group; /* its control group, which exists */
	pid_t container;   /* the waiting PID 1 of its container; 0: it gets a pid namespace */
};

/* Record the PID of the node's agent, before it runs. */
typedef int (*birth_record_fn)(const struct node_spec *spec, pid_t pid, struct error *err);

/*
 * Start the node SPEC: set its limits, make its namespaces and its root file system, connect it,
 * and run its agent.
 * RECORD may be NULL.
 */
int birth_give(const struct node_spec *spec, const struct birth_place *place,
	       birth_record_fn record, struct error *err);
