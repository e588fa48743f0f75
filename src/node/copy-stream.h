/* The archive of a node on its way to a program of the host. */
#pragma once

#include <stdint.h>

#include "base/error.h"
#include "base/process.h"

/*
 * Copy what PACKER writes to the pipe FROM into the pipe TO, until PACKER has ended or nobody reads
 * TO any more.  An archive is larger than its contents, so it may have as many bytes as can be
 * stored in the directory DIR; RESERVE bytes of the disk, as for room_open(), stay free.  -ENOSPC
 * with reason_storage if there are more; -EINTR as soon as *INTERRUPTED is set; -ETIMEDOUT if
 * PACKER writes nothing for SILENT_SECONDS.
 */
int copy_stream(int from, int to, const struct process *packer, int dir, uint64_t reserve,
		unsigned silent_seconds, const volatile int *interrupted, struct error *err);
