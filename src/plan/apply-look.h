/* The differences between the current state of a cluster and its file, and whether they can be
 * applied. */
#pragma once

#include "plan/apply-plan.h"

/*
 * Compare the current state of the cluster PROFILE with FILE.  Nodes that do not run are found,
 * too, as are labels and taints that the API has lost, which are removed from PROFILE.  RET points
 * into both.
 */
void apply_look(struct profile *profile, const struct cluster_file *file, struct apply_plan *ret);

/*
 * Whether there is something to do; without PRUNE, nodes that the file does not have are ignored.
 */
bool apply_has_work(const struct apply_plan *plan, bool prune);

/* -EINVAL with reason_usage if PLAN cannot be applied as a whole.  Changes nothing. */
int apply_check(const struct profile *profile, const struct cluster_file *file,
		const struct apply_plan *plan, bool prune, struct error *err);
