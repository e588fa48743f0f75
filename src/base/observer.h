/*
 * Progress of long operations: a step begins, advances, ends.
 *
 * The layers below cmd/ never print; they report progress to the observer that
 * their caller passes.  A step is identified by its text ("starting node") and,
 * if it concerns a node, by the node.  Steps of several nodes may run at once.
 */
#pragma once

#include "base/macro.h"

struct observer {
	/* A step began.  NODE is NULL for steps of the whole cluster. */
	void (*begin)(struct observer *observer, const char *step, const char *node);

	/* DONE of TOTAL (0: unknown) are complete; DETAIL names the current item. */
	void (*progress)(struct observer *observer, const char *step, const char *node,
			 const char *detail, uint64_t done, uint64_t total);

	/* The step ended. */
	void (*end)(struct observer *observer, const char *step, const char *node, bool ok);

	/* Show a sentence to the user. */
	void (*note)(struct observer *observer, const char *text);

	/* The step is long: show the remaining time from now on.  The whole step is expected to
	 * take EXPECTED_MS (0: unknown).  May be NULL. */
	void (*expect)(struct observer *observer, const char *step, int64_t expected_ms);

	/* A pod was evicted, which cannot be undone.  May be NULL. */
	void (*evicted)(struct observer *observer);

	/* Ask whether to do STEP, which takes long; TEXT describes it.  If NULL, TEXT is shown as a
	 * note and the answer is yes. */
	bool (*confirm)(struct observer *observer, const char *step, const char *text);
};

/* OBSERVER may be NULL in all of the following functions. */
static inline void observe_begin(struct observer *observer, const char *step, const char *node)
{
	if (observer)
		observer->begin(observer, step, node);
}

static inline void observe_progress(struct observer *observer, const char *step, const char *node,
				    const char *detail, uint64_t done, uint64_t total)
{
	if (observer)
		observer->progress(observer, step, node, detail, done, total);
}

static inline void observe_end(struct observer *observer, const char *step, const char *node,
			       bool ok)
{
	if (observer)
		observer->end(observer, step, node, ok);
}

static inline void observe_note(struct observer *observer, const char *text)
{
	if (observer)
		observer->note(observer, text);
}

static inline void observe_expect(struct observer *observer, const char *step, int64_t expected_ms)
{
	if (observer && observer->expect)
		observer->expect(observer, step, expected_ms);
}

static inline void observe_evicted(struct observer *observer)
{
	if (observer && observer->evicted)
		observer->evicted(observer);
}

static inline bool observe_confirm(struct observer *observer, const char *step, const char *text)
{
	if (observer && observer->confirm)
		return observer->confirm(observer, step, text);
	observe_note(observer, text);
	return true;
}
