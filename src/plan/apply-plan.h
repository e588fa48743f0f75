/*
 * What has to be done to change a cluster to match a file.
 *
 * Only compared: nothing here is done.  What the file does not say is as usual, but for the
 * cluster's version and what would be found free: these stay as they are.
 */
#pragma once

#include "describe/file-fields.h"
#include "describe/file.h"

enum apply_action {
	APPLY_SET,     /* something of the cluster */
	APPLY_REFUSED, /* likewise, and it can't be changed any more */
	APPLY_ADD,     /* a node, or the whole cluster */
	APPLY_START,   /* a node that does not run, or only half exists */
	APPLY_CHANGE,  /* a node, at once */
	APPLY_RESTART, /* a node, which has to be stopped and started for it */
	APPLY_REPLACE, /* a node, which has to be deleted and made anew for it */
	APPLY_DELETE,  /* a node that the file does not have */
};

/* What becomes of one field: it is BEFORE and becomes AFTER, or is a list that gains and loses
 * words. */
struct apply_change {
	const struct setting *setting; /* NULL: the role of a node */
	char *field;                   /* "memory", "defaults.labels" */
	char *before;
	char *after;
	struct strlist gained;
	struct strlist lost;
};

struct apply_step {
	enum apply_action action;
	const char *node; /* of the file or the profile; NULL: the cluster */
	bool is_down;     /* the node does not run, so nobody is disturbed */
	struct apply_change *changes;
	size_t change_count;
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

/* The plan to make the cluster of FILE, which does not exist; RET points into it. */
void apply_plan_make_new(const struct cluster_file *file, struct apply_plan *ret);

/* Whether FIELD of a cluster that exists, or of the defaults of its nodes, may change. */
bool apply_may_change(const struct setting *field);

/* Have PROFILE itself, not its nodes, be as FILE says, as far as that may change; what a file of
 * kind's does not say stays. */
void apply_plan_take(const struct cluster_file *file, struct profile *profile);

/* Whether some step of PLAN is ACTION. */
bool apply_plan_has(const struct apply_plan *plan, enum apply_action action);

/* The step about the node called NAME; NULL if there is none. */
struct apply_step *apply_plan_find(const struct apply_plan *plan, const char *name);

/* Add a step without changes; earlier pointers to steps are no longer valid. */
struct apply_step *apply_plan_add(struct apply_plan *plan, enum apply_action action,
				  const char *node);

/* Whether what runs on the step's node is disturbed. */
bool apply_step_disturbs(const struct apply_step *step);

/* What is done: "is restarted". */
const char *apply_action_words(enum apply_action action);

/* CHANGE in words: "memory 1g -> 2g", "labels +tier=db -tier=web"; all of STEP's, joined by commas;
 * and the whole STEP: "node 'big' changes: memory 1g -> 2g"; each for the caller to free. */
char *apply_change_words(const struct apply_change *change) must_check;
char *apply_step_changes(const struct apply_step *step) must_check;
char *apply_step_words(const struct apply_step *step) must_check;

void apply_plan_release(struct apply_plan *plan);
