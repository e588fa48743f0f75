/*
 * Ctrl-C in commands that change a cluster.
 *
 * It is safe at any time, because the record on disk is always written before the work: the program
 * just exits and says how to continue.
 */
#pragma once

/*
 * From now on, exit with reason_interrupted on a signal and suggest ADVICE (NULL: that of the
 * reason). A later call replaces an earlier one.
 */
void interrupt_explain(const char *advice);
