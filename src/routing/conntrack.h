/* The kernel's connection tracking table. */
#pragma once

#include <stddef.h>

#include "base/error.h"
#include "data/inet.h"

/*
 * Remove all IPv4 connections from or to an address in one of COUNT SUBNETS, before or after
 * translation.  Succeeds without removing any if the kernel cannot list connections.
 */
int conntrack_forget(const struct subnet *subnets, size_t count, struct error *err);

/*
 * Remove those of these connections that would not exist if the cluster whose networks are SUBNETS
 * had had its rules when they began: all but connections within SUBNETS, and connections from
 * SUBNETS to other addresses that are masqueraded.
 */
int conntrack_forget_strangers(const struct subnet *subnets, size_t count, struct error *err);
