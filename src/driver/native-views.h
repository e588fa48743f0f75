/*
 * The CPUs and the memory that a native node sees: those that it was given.
 *
 * The control group enforces the limits; programs such as the kubelet read these files.
 */
#pragma once

#include <sys/types.h>

#include "base/error.h"
#include "driver/native-cpus.h"

/*
 * Write cpuinfo, if CPUS are limited, and meminfo, if MEMORY_BYTES is not 0, to DIR, which replace
 * the kernel's files; otherwise remove them.  DIR is made if missing.  It is a directory of the
 * host that the node cannot write to, because the files are mounted by name.
 */
int native_views_write(const char *dir, const struct native_cpus *cpus, uint64_t memory_bytes,
		       struct error *err);

/* In the node: mount the files in FROM over those in ROOT/proc, and show CPUS, if limited, in
 * ROOT/sys.
 */
int native_views_mount(const char *from, const char *root, const struct native_cpus *cpus,
		       struct error *err);

/*
 * Update a running node, whose first process is PID: write the files to DIR and mount them instead
 * of the old ones.  Running programs may have read the old ones.
 */
int native_views_renew(const char *dir, pid_t pid, const struct native_cpus *cpus,
		       uint64_t memory_bytes, struct error *err);

/* TEXT, the contents of /proc/cpuinfo, reduced to the processors CPUS;
 * the caller frees the result. */
char *native_views_cpuinfo(const char *text, const struct cpus *cpus) must_check;
