/*
 * An observer that shows progress to the user, on stderr.
 *
 * On a terminal: live lines, with all nodes side by side below their step, drawn by a separate
 * process, so that they are updated while the work waits.  Elsewhere: one plain line per finished
 * step, and one every 30 s for a step that reports progress. Warnings of log_warning() are shown in
 * between.
 */
#pragma once

#include "base/cleanup.h"
#include "base/observer.h"

struct progress;

/* Do not ask before long work; otherwise, ask on a terminal. */
extern bool progress_assume_yes;

/* QUIET shows only warnings; VERBOSITY of 1 shows how long each step took. */
struct progress *progress_new(bool quiet, int verbosity);

/* The observer to pass to the work. */
struct observer *progress_observer(struct progress *progress);

/* Clear the live lines, and wait until that is done, so that output can follow. */
void progress_free(struct progress *progress);
DEFINE_CLEANUP(struct progress *, progress_free)

/* Clear the live lines, if any, before exiting; async-signal-safe. */
void progress_abandon(void);
