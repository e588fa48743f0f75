/* How `apply` prints its plan. */
#pragma once

#include "plan/apply-plan.h"

/* Print the plan, one line per step: on stdout, or as events if they are enabled. */
void apply_print_plan(const char *name, const struct apply_plan *plan, bool prune);

/* The same as JSON, on stdout; EXISTS: whether the cluster exists. */
void apply_print_json(const char *name, const char *source, bool exists,
		      const struct apply_plan *plan, bool prune);

/* The nodes that STEPS of PLAN disturb: "big, old and node-4", NULL if there are none. The caller
 * frees it. */
char *apply_disturbed(const struct apply_plan *plan, bool prune) must_check;
