/*
 * Changing a cluster to match a file.
 *
 * The plan is made anew from what there is each time, and every step is written down before it is
 * done: whatever interrupts it, doing it again goes on.  The caller holds the profile's lock.
 */
#pragma once

#include "base/observer.h"
#include "plan/apply-plan.h"

struct apply_options {
	bool prune;                /* delete nodes that the file does not have */
	bool force;                /* go on although the host lacks something */
	const char *binary_mirror; /* where to download Kubernetes from */
	unsigned wait_seconds;     /* for the cluster, after each start */
	unsigned drain_seconds;    /* how long the pods of a node that goes may take to move */
};

/*
 * Carry out PLAN for the cluster NAME: additions and what changes at once first, then restarts,
 * then nodes that are made anew, then deletions; these one node after another, each with all the
 * others Ready before the next.  Without work it mends what is not as it should be, as `start`
 * does.
 */
int apply_carry_out(const char *name, const struct cluster_file *file,
		    const struct apply_plan *plan, const struct apply_options *options,
		    struct observer *observer, struct error *err);
