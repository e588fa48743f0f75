/*
 * Changing a cluster to match a file.
 *
 * The plan is computed from the current state each time, and every step is recorded before it is
 * done: after an interruption, running it again continues.  The caller holds the profile's lock.
 */
#pragma once

#include "base/observer.h"
#include "plan/apply-plan.h"

struct apply_options {
	bool prune;                /* delete nodes that are not in the file */
	bool force;                /* continue although the host lacks something */
	const char *binary_mirror; /* where to download Kubernetes from */
	unsigned wait_seconds;     /* how long to wait for the cluster after each start */
	unsigned drain_seconds;    /* how long pods may take to move to other nodes */
};

/*
 * Apply PLAN to the cluster NAME: first additions and changes that take effect at once, then
 * restarts, then replacements of nodes, then deletions.  The last three are done one node after
 * another; all other nodes must be Ready before the next one.  Without steps, it repairs the
 * cluster, like `start`.
 */
int apply_carry_out(const char *name, const struct cluster_file *file,
		    const struct apply_plan *plan, const struct apply_options *options,
		    struct observer *observer, struct error *err);
