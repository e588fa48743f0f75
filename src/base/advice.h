/*
 * Commands that messages suggest.
 *
 * A message names a command in single quotes and without -p: 'manykube node start node-2'.
 * advice_complete() adds the cluster before the message is shown, so that users can run the command
 * exactly as printed.  error_hint(), log_warning() and say_done() call it; tools/check-advice.py
 * reports messages written in any other way.
 *
 * Suggested commands do not destroy anything.  The same check lists the few exceptions.
 */
#pragma once

#include "base/macro.h"

/*
 * Set the cluster for which commands are suggested.  NULL, the initial value, means the cluster
 * that commands without -p work on, so that no -p is added.
 */
void advice_use_profile(const char *name);

/*
 * Return TEXT with -p added to each quoted command that works on a cluster and names none.  The
 * caller frees the result.
 */
char *advice_complete(const char *text) must_check;

/* Like advice_complete() for a single command without quotes: "manykube kubectl -- get nodes". */
char *advice_command(const char *command) must_check;
