/*
 * What long work tells whoever watches: a step began, how far it is, it ended.
 *
 * The layers below cmd/ never print; they call these through the observer that
 * they were given.  A step is known by its words ("starting node"), and by the node
 * that it is about if there is one; steps of several nodes may run at once.
 */
#pragma once

#include "base/macro.h"

struct observer {
	/* A step began.  NODE is NULL for steps of the whole cluster. */
	void (*begin)(struct observer *observer, const char *step, const char *node);

	/* How far the step is: DONE of TOTAL (0: unknown), and what it is working on just now. */
	void (*progress)(struct observer *observer, const char *step, const char *node,
			 const char *detail, uint64_t done, uint64_t total);

	/* The step ended. */
	void (*end)(struct observer *observer, const char *step, const char *node, bool ok);

	/* A sentence that the user should read. */
	void (*note)(struct observer *observer, const char *text);

	/* The step is long: say from now on how much time it has left.  All of it is expected to
	 * take EXPECTED_MS (0: unknown).  May be NULL. */
	void (*expect)(struct observer *observer, const char *step, int64_t expected_ms);

	/* Whether to go on with the STEP that TEXT is about, which takes long.  May be NULL: it is
	 * a note then. */
	bool (*confirm)(struct observer *observer, const char *step, const char *text);
};

/* OBSERVER may be NULL in all of these. */
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

static inline bool observe_confirm(struct observer *observer, const char *step, const char *text)
{
	if (observer && observer->confirm)
		return observer->confirm(observer, step, text);
	observe_note(observer, text);
	return true;
}
