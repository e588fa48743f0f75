/* The state of a running start, shared by start*.c. */
#pragma once

#include "base/clock.h"
#include "cluster/cluster.h"
#include "cni/pod-network.h"
#include "kubeadm/bootstrap.h"
#include "node/cluster-node.h"
#include "record/options.h"
#include "record/world.h"

struct start {
	struct profile profile;
	struct payload payload;
	struct cni_manifests manifests; /* that are not stored yet */
	struct observer *observer;
	int64_t deadline; /* for waiting for the cluster; UNTIMED work moves it */
	char *token;
	struct bootstrap init;
	struct bootstrap publish;
	struct bootstrap controllers;
	struct bootstrap addons;
	struct bootstrap *joins; /* one per node */
	bool *restarted;         /* likewise: a member that did not run before */
	bool *thawed;            /* likewise: a member that was only paused */
	bool *ran;               /* likewise: it ran before */
	bool *part;              /* likewise: it runs, or is to be started */
	bool *awaited;           /* likewise: the command is about it, and waits for it */
	struct cluster_outcome *outcome;
	int64_t *since_ms; /* one per node: when it was restarted, since 1970 */
};

/* Do WORK as the step WORDS, which WATCHER (may be NULL) and tests observe. */
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

/* Do WORK that is not waiting for the cluster: getting payloads, waiting for a lock, creating
 * nodes.  Its duration is added to the deadline, so --wait-timeout does not include it. */
#define UNTIMED(start, work)                                       \
	({                                                         \
		int64_t untimed_ms_ = clock_now_ms();              \
		int untimed_r_ = (work);                           \
		(start)->deadline += clock_now_ms() - untimed_ms_; \
		untimed_r_;                                        \
	})

/* Whether NODE ran before, and whether it runs or is to be started. */
bool start_ran_before(const struct start *start, const struct node *node);
bool start_takes_part(const struct start *start, const struct node *node);

/* Whether the command is about NODE.  Other nodes that run may be unhealthy, and are not waited
 * for. */
bool start_awaits(const struct start *start, const struct node *node);

/* Let nodes that are to run, and that have joined but lost their directories, join again.  -ENOENT
 * if all control planes lost theirs, and so the cluster's data; -EAGAIN if most of them did. */
int start_find_lost(struct start *start, const struct cluster_options *options, struct error *err);

/* Determine which nodes run, and which of the others are to be started. */
int start_look_at_nodes(struct start *start, const struct cluster_options *options,
			struct error *err);

/* Start NODE, or all nodes that take part except the primary.  An error of a node that the command
 * is not about is only a warning. */
int start_node(struct start *start, struct node *node, struct error *err);
int start_other_nodes(struct start *start, struct error *err);

/* Stop the front door if it runs but does not answer; the caller starts it afterwards. */
int start_repair_front_door(struct start *start, const struct profile *profile, struct error *err);

/* Restart services of NODE, which runs, that do not answer.  If its kubelet does not run, NODE
 * counts as Ready only after its kubelet has reported again. */
int start_repair(struct start *start, const struct node *node, const struct cluster_node *at,
		 struct error *err);

/* Whether a node that takes part has not joined yet. */
bool start_anybody_joins(const struct start *start);

/* start_begin_joins() starts the joins of workers, with a token that is created first if needed.
 * start_finish_joins() then joins control planes, and waits for the workers. */
int start_begin_joins(struct start *start, bool needs_token, struct error *err);
int start_finish_joins(struct start *start, struct error *err);
int start_mark_joined(struct start *start, struct node *node, struct error *err);
