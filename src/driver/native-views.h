/*
 * What a native node sees of its machine: as many CPUs and as much memory as it was given.
 *
 * The control group enforces the limits; programs, the kubelet first of all, read these files.
 */
#pragma once

#include <sys/types.h>

#include "base/error.h"
#include "driver/native-cpus.h"

/*
 * Write into DIR, made if missing, the files meminfo and cpuinfo that stand for the kernel's, as
 * far as there are CPUS, or MEMORY_BYTES is not 0, and remove those that are not needed.  It is a
 * directory of the host that the node can't write to: these files are mounted into the node by
 * their names.
 */
int native_views_write(const char *dir, const struct native_cpus *cpus, uint64_t memory_bytes,
		       struct error *err);

/* In the node: put the files in FROM over those of the /proc below ROOT, and CPUS into its /sys, if
 * there are any. */
int native_views_mount(const char *from, const char *root, const struct native_cpus *cpus,
		       struct error *err);

/*
 * The same for a node that runs, whose first process is PID: write the files into DIR, and put
 * them in the place of those it has.  Programs that run already may have read the old ones.
 */
int native_views_renew(const char *dir, pid_t pid, const struct native_cpus *cpus,
		       uint64_t memory_bytes, struct error *err);

/* TEXT, a /proc/cpuinfo, with just the processors CPUS, for the caller to free. */
char *native_views_cpuinfo(const char *text, const struct cpus *cpus) must_check;
