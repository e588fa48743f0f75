/*
 * The steps that change a cluster to match a file.
 *
 * They are only computed here.  A field that is not in the file has its default value, except for
 * the cluster's version and for fields for which free values are chosen: these keep their values.
 */
#pragma once

#include "describe/file-fields.h"
#include "describe/file.h"

enum apply_action {
	APPLY_SET,     /* a setting of the cluster */
	APPLY_REFUSED, /* likewise, but it cannot be changed on an existing cluster */
	APPLY_ADD,     /* a node, or the whole cluster */
	APPLY_START,   /* a node that does not run, or is not complete */
	APPLY_CHANGE,  /* a node, immediately */
	APPLY_RESTART, /* a node, which must be stopped and started */
	APPLY_REPLACE, /* a node, which must be deleted and created again */
	APPLY_DELETE,  /* a node that is not in the file */
};

/* The change of one field: from BEFORE to AFTER or, for a list, the words that are added and
 * removed. */
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
	bool is_down;     /* the node does not run, so the step disturbs nothing */
	const char *need; /* of APPLY_START: what the node needs in words; NULL: see `changes` */
	struct apply_change *changes;
	size_t change_count;
};

/*
 * The cluster comes first, then the nodes in the order of the file, then those that are not in it.
 */
struct apply_plan {
	struct apply_step *steps;
	size_t count;
};

#define APPLY_PLAN_INIT ((struct apply_plan){ NULL })

/* Compare PROFILE with FILE; RET points into both.  With UNSAID_STAYS, all fields of the cluster
 * that are not in the file keep their values. */
void apply_plan_make(const struct profile *profile, const struct cluster_file *file,
		     bool unsaid_stays, struct apply_plan *ret);

/* The plan to create the cluster of FILE, which does not exist; RET points into FILE. */
void apply_plan_make_new(const struct cluster_file *file, struct apply_plan *ret);

/* Whether FIELD of an existing cluster, or of the defaults of its nodes, may change. */
bool apply_may_change(const struct setting *field);

/* Change PROFILE itself, but not its nodes, to match FILE as far as that is possible.  Fields that
 * are missing in a file of kind keep their values. */
void apply_plan_take(const struct cluster_file *file, struct profile *profile);

/* Whether PLAN has a step with ACTION. */
bool apply_plan_has(const struct apply_plan *plan, enum apply_action action);

/* The step for the node called NAME; NULL if there is none. */
struct apply_step *apply_plan_find(const struct apply_plan *plan, const char *name);

/* Append a step without changes.  Invalidates earlier pointers to steps. */
struct apply_step *apply_plan_add(struct apply_plan *plan, enum apply_action action,
				  const char *node);

/* Whether the step makes the pods of all nodes anew, because the pod network changes. */
bool apply_step_moves_pods(const struct apply_step *step);

/* Whether the step disturbs what runs on its node, or on any. */
bool apply_step_disturbs(const struct apply_step *step);

/* The description of ACTION: "is restarted". */
const char *apply_action_words(enum apply_action action);

/*
 * The text of CHANGE: "memory 1g -> 2g", "labels +tier=db -tier=web"; of all changes of STEP,
 * separated by commas; and of the whole STEP: "node 'big' changes: memory 1g -> 2g".  The caller
 * frees each.
 */
char *apply_change_words(const struct apply_change *change) must_check;
char *apply_step_changes(const struct apply_step *step) must_check;
char *apply_step_words(const struct apply_step *step) must_check;

void apply_plan_release(struct apply_plan *plan);
