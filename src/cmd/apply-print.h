/* What `apply` shows of its plan. */
#pragma once

#include "plan/apply-plan.h"

/* What is to be done, a line for each step: on stdout, or as events if these are there. */
void apply_print_plan(const char *name, const struct apply_plan *plan, bool prune);

/* The same as JSON, on stdout; EXISTS: the cluster does. */
void apply_print_json(const char *name, const char *source, bool exists,
		      const struct apply_plan *plan, bool prune);

/* The nodes that STEPS of PLAN disturb: "big, old and node-4", for the caller to free; NULL if
 * there are none. */
char *apply_disturbed(const struct apply_plan *plan, bool prune) must_check;
