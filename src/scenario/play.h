/*
 * Playing a scenario.
 *
 * The profile's lock is held only while a failure is made or undone, so that other commands, and
 * the end of failures whose time is over, are not kept waiting.  Whatever ends the run, the
 * failures that it has made are undone; those that were active before it stay.
 */
#pragma once

#include <signal.h>

#include "scenario/scenario.h"
#include "scenario/timeline.h"

struct play_options {
	const volatile sig_atomic_t *stop; /* becomes 1 when the run is to end early */

	/* Called with each event that people want to know, in words. */
	void (*tell)(int64_t ms, const char *words);
};

/*
 * Check the whole SCENARIO against the cluster NAME, play it, and wait until the cluster is well
 * again.  Nothing is changed if the check fails: its error begins with the place of the step.
 * RET is set whenever a failure may have been made, also on errors: -ETIMEDOUT with
 * reason_wait_timeout if a wait, or the cluster at the end, took too long; -EINTR with
 * reason_interrupted.
 */
int scenario_play(const char *name, const struct scenario *scenario,
		  const struct play_options *options, struct report *ret, struct error *err);
