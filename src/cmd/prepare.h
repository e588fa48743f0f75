/* What a command's flags ask for. */
#pragma once

#include "cmd/command.h"

/* Load, check and lock what the flags of CTX's command ask for, and run it.  PATH is what it is
 * called: "manykube node list". */
int command_run_prepared(struct command_context *ctx, const char *path, struct error *err);
