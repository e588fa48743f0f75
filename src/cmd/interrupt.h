/*
 * Ctrl-C in commands that change a cluster.
 *
 * It is safe at any time, because the record on disk is always written before the work: the program
 * just exits and says how to continue.
 */
#pragma once

#include "base/observer.h"

/*
 * From now on, exit with reason_interrupted on a signal and suggest ADVICE (NULL: that of the
 * reason). A later call replaces an earlier one.
 */
void interrupt_explain(const char *advice);

/* The same for a command that drains nodes: ADVICE, which must be static, and, as soon as OBSERVER
 * hears of an evicted pod, also what evicted pods have lost. */
void interrupt_explain_drain(const char *advice, struct observer *observer);
