/* Limits of the file systems in memory that a node has. */
#pragma once

#include <stdint.h>

#include "base/error.h"

/*
 * Limit the tmpfs mounts below ROOT, in bytes and in files, as distributions do: to a share of the
 * node's memory, MEMORY_BYTES, or of the host's if that is 0.
 */
int native_tmpfs_limit(const char *root, uint64_t memory_bytes, struct error *err);
