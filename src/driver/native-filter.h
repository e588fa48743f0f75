/* The nftables of a native node's network. */
#pragma once

#include "driver/driver.h"

/* Replace or remove the table NAME in the network of the node whose first process is PID; see
 * node_driver.filter. */
int native_filter(const struct node_spec *spec, pid_t pid, const char *name, const char *rules,
		  struct error *err);
