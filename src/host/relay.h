/*
 * The standard streams of a program that runs in a node.
 *
 * Such a program is hostile: with a terminal of ours it could type commands for us, with a
 * directory it could leave its node, a file it could lock, truncate or fill, also one opened for
 * reading only, which it could open again.  So it gets pipes, and we copy.
 */
#pragma once

#include <sys/types.h>

#include "base/process.h"

struct relay {
	int ours[3];    /* by the number of the stream; -1: nothing is to be copied */
	int theirs[3];  /* what the program gets */
	int between[3]; /* our end of its pipe, or -1 */
	uint64_t left;  /* how much of its output may still be written */
};

#define RELAY_INIT ((struct relay){ { -1, -1, -1 }, { -1, -1, -1 }, { -1, -1, -1 }, UINT64_MAX })

/* Prepare the streams that OPTIONS ask for, in a process that is made for one program only: all
 * other descriptors are closed, except REPORT.  -1 with errno. */
int relay_open(const struct process_options *options, int report, struct relay *ret);

/* In the program's process: make them its standard streams; all else closes with exec. */
int relay_become(const struct relay *relay);

/* Copy until PROGRAM, a child, has ended and its output is written. */
void relay_run(struct relay *relay, pid_t program);
