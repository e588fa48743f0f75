/* Terminals of native nodes. */
#pragma once

#include "driver/driver.h"

/* Open a pseudo-terminal of the node NAME, whose first process is PID; the driver's
 * open_terminal(). */
int native_terminal_open(const char *name, pid_t pid, int *ret_ours, int *ret_theirs,
			 struct error *err);
