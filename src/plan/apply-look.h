/* What differs between a cluster as it is at this moment and its file, and whether that can be
 * done.
 */
#pragma once

#include "plan/apply-plan.h"

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
