/*
 * What has to be done to make a cluster what a file says it is.
 *
 * Only compared: nothing here is done.  What the file does not say is as usual, but for the
 * cluster's version and what would be found free: these stay as they are.
 */
#pragma once

#include "cluster/file.h"

enum apply_action {
	APPLY_SET,     /* something of the cluster */
	APPLY_REFUSED, /* likewise, and it can't be changed any more */
	APPLY_ADD,     /* a node */
	APPLY_CHANGE,  /* a node, at once */
	APPLY_RESTART, /* a node, which has to be stopped and started for it */
	APPLY_REPLACE, /* a node, which has to be deleted and made anew for it */
	APPLY_DELETE,  /* a node that the file does not have */
};

struct apply_step {
	enum apply_action action;
	const char *node;       /* of the file or the profile; NULL: the cluster */
	struct strlist changes; /* "memory 1g -> 2g", "labels +tier=db -tier=web" */
};

/* The cluster first, then the nodes of the file in its order, then those that it does not have. */
struct apply_plan {
	struct apply_step *steps;
	size_t count;
};

#define APPLY_PLAN_INIT ((struct apply_plan){ NULL })

/* Compare PROFILE with FILE; RET points into both.  UNSAID_STAYS: so does all that the file does
 * not say of the cluster. */
void apply_plan_make(const struct profile *profile, const struct cluster_file *file,
		     bool unsaid_stays, struct apply_plan *ret);

/* Whether some step of PLAN is ACTION. */
bool apply_plan_has(const struct apply_plan *plan, enum apply_action action);

/* STEP in words: "node 'big' changes: memory 1g -> 2g", for the caller to free. */
char *apply_step_words(const struct apply_step *step) must_check;

void apply_plan_release(struct apply_plan *plan);
