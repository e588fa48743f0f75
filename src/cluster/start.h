/* A start under way: what its parts, start*.c, have in common. */
#pragma once

#include "base/clock.h"
#include "cluster/cluster.h"
#include "kubeadm/bootstrap.h"
#include "node/cluster-node.h"
#include "record/options.h"
#include "record/world.h"

struct start {
	struct profile profile;
	struct payload payload;
	struct observer *observer;
	int64_t deadline; /* of waiting for the cluster; UNTIMED work moves it */
	char *token;
	struct bootstrap init;
	struct bootstrap publish;
	struct bootstrap controllers;
	struct bootstrap addons;
	struct bootstrap *joins; /* one per node */
	bool *restarted;         /* likewise: a member that did not run before */
	bool *thawed;            /* likewise: one of those that was only paused */
	bool *ran;               /* likewise: it ran before */
	bool *part;              /* likewise: it runs, or is to run */
	bool *awaited;           /* likewise: the command is about it, and waits for it */
	struct cluster_outcome *outcome;
	int64_t began_ms; /* since 1970 */
};

/* Do WORK as the step WORDS, seen by WATCHER (may be NULL) and by tests. */
#define STEP_SEEN_BY(watcher, words, node, work)                 \
	({                                                       \
		int step_r_;                                     \
		observe_begin(watcher, words, node);             \
		step_r_ = (work);                                \
		observe_end(watcher, words, node, step_r_ >= 0); \
		if (step_r_ >= 0)                                \
			world->after(words);                     \
		step_r_;                                         \
	})
#define STEP(start, words, node, work) STEP_SEEN_BY((start)->observer, words, node, work)

/*
 * Do WORK that is not waiting for the cluster: getting payloads, waiting for a lock, making nodes.
 * The time that it takes is added to the deadline, so --wait-timeout does not count it.
 */
#define UNTIMED(start, work)                                       \
	({                                                         \
		int64_t untimed_ms_ = clock_now_ms();              \
		int untimed_r_ = (work);                           \
		(start)->deadline += clock_now_ms() - untimed_ms_; \
		untimed_r_;                                        \
	})

/* Whether NODE ran before, and whether it runs or is to run. */
bool start_ran_before(const struct start *start, const struct node *node);
bool start_takes_part(const struct start *start, const struct node *node);

/* Whether the command is about NODE: nodes that only run anyway may be sick, and are not waited
 * for. */
bool start_awaits(const struct start *start, const struct node *node);

/* Have nodes that are to run, and that have joined but lost their directories, join again: -ENOENT
 * if all control planes did, so that the cluster's data is gone, -EAGAIN if most did. */
int start_find_lost(struct start *start, const struct cluster_options *options, struct error *err);

/* Find out which nodes run, and which of the others are to. */
int start_look_at_nodes(struct start *start, const struct cluster_options *options,
			struct error *err);

/* Bring up NODE, or all that take part but the primary.  What is wrong with a node that the command
 * is not about is only a warning. */
int start_node(struct start *start, struct node *node, struct error *err);
int start_other_nodes(struct start *start, struct error *err);

/* End the front door if it runs but does not answer; the caller opens it afterwards. */
int start_repair_front_door(struct start *start, struct error *err);

/* Restart services of NODE, which runs, that do not answer.  If its kubelet does not run, NODE has
 * to be heard of before it counts as Ready. */
int start_repair(struct start *start, const struct node *node, const struct cluster_node *at,
		 struct error *err);

/* Whether a node that takes part is no member yet. */
bool start_anybody_joins(const struct start *start);

/* Have the workers that are no members begin to join, with a token that is made first if one
 * is needed; then make members of the control planes that are none, and see the workers' joins end.
 */
int start_begin_joins(struct start *start, bool needs_token, struct error *err);
int start_finish_joins(struct start *start, struct error *err);
int start_mark_joined(struct start *start, struct node *node, struct error *err);
