/*
 * An observer that shows a person how far the work is, on stderr.
 *
 * On a terminal: live lines, with all nodes side by side below their step, drawn by a small
 * process of their own, so that they move while the work waits for something.  Elsewhere:
 * one plain line per finished step, and one every 30 s of a step that tells how far it is. Warnings
 * of log_warning() are shown in between.
 */
#pragma once

#include "base/cleanup.h"
#include "base/observer.h"

struct progress;

/* Long work is not asked about; on a terminal it is, otherwise. */
extern bool progress_assume_yes;

/* QUIET shows nothing but warnings; VERBOSITY of 1 says how long each step took. */
struct progress *progress_new(bool quiet, int verbosity);

/* What to hand to the work. */
struct observer *progress_observer(struct progress *progress);

/* Take the live lines away, and wait until that is done: what is printed next stands below. */
void progress_free(struct progress *progress);
DEFINE_CLEANUP(struct progress *, progress_free)

/* Take the live lines away, if there are any, because we are about to end; fit for a signal
 * handler. */
void progress_abandon(void);
