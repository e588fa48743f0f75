/*
 * Ctrl-C in commands that change a cluster.
 *
 * It is safe at any time, because the record on disk is always written before the work: the program
 * just exits and says how to continue.
 */
#pragma once

/* For commands that drain nodes: what pods lose by an eviction cannot be brought back. */
#define INTERRUPT_DRAINED                                                                      \
	"pods that were already evicted stay evicted, and have lost the contents of emptyDir " \
	"volumes"

/*
 * From now on, exit with reason_interrupted on a signal and suggest ADVICE (NULL: that of the
 * reason). A later call replaces an earlier one.
 */
void interrupt_explain(const char *advice);
