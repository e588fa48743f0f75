/* The kernel's table of connections. */
#pragma once

#include <stddef.h>

#include "base/error.h"
#include "data/inet.h"

/*
 * Remove all IPv4 connections from or to an address in one of COUNT SUBNETS, before or after
 * translation.  Where the kernel cannot list connections, nothing is removed and that is no error.
 */
int conntrack_forget(const struct subnet *subnets, size_t count, struct error *err);
