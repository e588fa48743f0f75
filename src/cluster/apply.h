/*
 * Making a cluster what a file says it is.
 *
 * The plan is made anew from what there is each time, and every step is written down before it is
 * done: whatever interrupts it, doing it again goes on.  The caller holds the profile's lock.
 */
#pragma once

#include "cluster/apply-plan.h"

struct apply_options {
	bool prune;                /* delete nodes that the file does not have */
	bool force;                /* go on although the host lacks something */
	const char *binary_mirror; /* where to download Kubernetes from */
	unsigned wait_seconds;     /* for the cluster, after each start */
	unsigned drain_seconds;    /* how long the pods of a node that goes may take to move */
};

/*
 * Compare the cluster of PROFILE as it is at this moment with FILE: also nodes that do not run are
 * found, and labels and taints that the API has lost, of which PROFILE is told.  RET points into
 * both.
 */
void apply_look(struct profile *profile, const struct cluster_file *file, struct apply_plan *ret);

/* Whether there is something to do; without PRUNE nothing is deleted. */
bool apply_has_work(const struct apply_plan *plan, bool prune);

/* -EINVAL with reason_usage if PLAN can't be carried out as a whole; nothing is done. */
int apply_check(const struct profile *profile, const struct cluster_file *file,
		const struct apply_plan *plan, bool prune, struct error *err);

/*
 * Carry out PLAN for the cluster NAME: additions and what changes at once first, then restarts,
 * then nodes that are made anew, then deletions; these one node after another, each with all the
 * others Ready before the next.  Without work it mends what is not as it should be, as `start`
 * does.
 */
int apply_carry_out(const char *name, const struct cluster_file *file,
		    const struct apply_plan *plan, const struct apply_options *options,
		    struct observer *observer, struct error *err);
