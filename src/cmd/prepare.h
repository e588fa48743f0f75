/* Do what a command's flags ask for. */
#pragma once

#include "cmd/command.h"
#include "cmd/record.h"

/* Load, check and lock what the flags of CTX's command ask for, and run it. PATH is its full name:
 * "manykube node list"; RECORD is notified when it starts to change things. */
int command_run_prepared(struct command_context *ctx, const char *path, struct record *record,
			 struct error *err);

/* Take the lock of CTX's cluster for the command PATH, waiting for another command if COMMAND_WAITS
 * is set. */
int command_take_lock(const struct command_context *ctx, const char *path, int *ret_lock,
		      struct error *err);
