/* Limits of a node's tmpfs mounts. */
#pragma once

#include <stdint.h>

#include "base/error.h"

/*
 * Limit the size and the number of files of the tmpfs mounts below ROOT to a share of the node's
 * memory, as distributions do.  MEMORY_BYTES is the node's memory (0: the host's).
 */
int native_tmpfs_limit(const char *root, uint64_t memory_bytes, struct error *err);
