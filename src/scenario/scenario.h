/*
 * Scenarios: files that list failures with times and conditions, for `fail run`.
 *
 *	apiVersion: manykube/v1
 *	kind: Scenario
 *	name: two failures
 *	observe: {service: default/web, protocol: http}
 *	settle: 2m
 *	steps:
 *	- {at: 10s, fail: partition, nodes: [node-2], from: [node-1], port: 2380, for: 30s}
 *	- {wait: not-ready, nodes: [node-2], timeout: 1m}
 *	- {after: 5s, heal: [node-2]}
 *
 * A step begins at its time and not before the previous one is done.  Without a time it begins when
 * the previous one is done.  Everything here is about the file; scenario/play.h plays it.
 */
#pragma once

#include "data/yaml.h"
#include "fail/failure.h"

enum scenario_act {
	SCENARIO_FAIL,
	SCENARIO_HEAL,
	SCENARIO_WAIT,
};

enum scenario_condition {
	SCENARIO_NOT_READY, /* none of the nodes is Ready */
	SCENARIO_READY,     /* all nodes are Ready */
	SCENARIO_PODS,      /* all pods are Ready, except for those that end */
	SCENARIO_API,       /* the API answers */
	SCENARIO_SERVICE,   /* the observed service answers */
};

struct scenario_step {
	enum scenario_act act;
	struct yaml_place place;
	bool has_at;
	unsigned at_seconds;    /* since the beginning of the run */
	unsigned after_seconds; /* since the previous step was done */
	struct failure failure; /* to be made */
	struct strlist nodes;   /* to be healed or waited for; empty: all */
	enum scenario_condition condition;
	unsigned timeout_seconds;
};

struct scenario {
	char *source; /* the name of the file in messages */
	char *name;   /* NULL: none */
	char *namespace;
	char *service;           /* whose answers are observed; NULL: none */
	bool connects_only;      /* a connection to the service counts as an answer */
	unsigned settle_seconds; /* how long the cluster may take to be well at the end */
	struct scenario_step *steps;
	size_t count;
};

#define SCENARIO_INIT ((struct scenario){ NULL })

/* Loop over the steps of SCENARIO with the `const struct scenario_step *` variable STEP. */
#define scenario_for_each(step, scenario) \
	for (step = (scenario)->steps; step < (scenario)->steps + (scenario)->count; step++)

/* Read the file PATH; "-" is standard input.  -EBADMSG with reason_cluster_file and
 * "FILE:LINE:COLUMN: " if it is wrong, -ENOENT with reason_host_path if there is none. */
int scenario_read(const char *path, struct scenario *ret, struct error *err);

/* Parse TEXT, which comes from the file SOURCE. */
int scenario_parse(const char *source, const char *text, size_t len, struct scenario *ret,
		   struct error *err);

/* Put "SOURCE:LINE:COLUMN: " of STEP before the error of a check, whose reason is kept; returns R.
 */
int scenario_step_wrong(const struct scenario *scenario, const struct scenario_step *step, int r,
			struct error *err);

/* STEP in words, "freeze node-2", "heal all", "wait until node-2 is not Ready"; for the caller to
 * free. */
char *scenario_step_words(const struct scenario *scenario,
			  const struct scenario_step *step) must_check;

void scenario_release(struct scenario *scenario);
