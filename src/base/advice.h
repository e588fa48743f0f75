/*
 * Commands that messages suggest.
 *
 * A message names a command in single quotes and without -p: 'manykube node start node-2'.  Before
 * it is shown, advice_complete() adds the cluster, so that the user can run the command as it is
 * printed.  error_hint(), log_warning() and say_done() do so by themselves; tools/check-advice.py
 * finds messages that are not written that way.
 *
 * Advice never destroys: the same check lists the few messages that may name a command which
 * removes something.
 */
#pragma once

#include "base/macro.h"

/*
 * The cluster that suggested commands are for from now on; NULL, as in the beginning, is the one
 * that commands without -p work on.
 */
void advice_use_profile(const char *name);

/* TEXT with -p in each quoted command that works on a cluster and has none; for the caller to free.
 */
char *advice_complete(const char *text) must_check;

/* The same for COMMAND alone, which is not quoted: "manykube kubectl -- get nodes". */
char *advice_command(const char *command) must_check;
