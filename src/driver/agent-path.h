/* The program that is PID 1 of nodes, whatever their driver. */
#pragma once

#include "base/error.h"

/* Its path on this host, for the caller to free; -ENOENT with reason_host_missing_tool if it is not
 * installed. */
int agent_find(char **ret_path, struct error *err);
