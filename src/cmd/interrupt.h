/*
 * Ctrl-C in commands that change a cluster.
 *
 * It is safe at any moment, since the record on disk is always ahead of what was done: the program
 * just ends, but not without saying how to go on.
 */
#pragma once

/*
 * From now on, end with reason_interrupted when a signal asks us to, and suggest ADVICE (NULL: that
 * of the reason).  A later call replaces an earlier one.
 */
void interrupt_explain(const char *advice);
