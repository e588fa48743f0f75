/*
 * Running a program of the host on the files of a node.
 *
 * The node's root may have made anything of these files, so the program gets no more rights than
 * the node has, and bounded resources.
 */
#pragma once

#include "base/process.h"
#include "driver/driver.h"

/*
 * Start ARGV with FLAG, followed by the path of the node's files, as its first argument.  Of
 * OPTIONS, the standard streams and the log are used; the log grows by at most 16 MiB.
 *
 * The program is root of a user namespace with the node's ids and has only the capabilities for
 * working on files and for chroot().  It sees the node's files as the node does; all else is
 * read-only.  It has no network, no environment but PATH, the node's system calls, 512 MiB of
 * memory and a minute of CPU time, and it is killed when we end.  A pipe in the place of a file can
 * make it wait forever, so callers wait with a deadline.
 */
int native_program_spawn(const struct node_spec *spec, const char *flag, char *const *argv,
			 const struct process_options *options, struct process *ret_process,
			 struct error *err);
