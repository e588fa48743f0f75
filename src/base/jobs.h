/*
 * Work in child processes, so that several pieces of it run at once.
 *
 * A child is killed when its parent ends, because it inherits locks, which must be free when the
 * command is run again.
 */
#pragma once

#include <sys/types.h>

#include "base/error.h"

struct job {
	pid_t pid;
	int report; /* the child writes its error message here */
};

#define JOB_INIT ((struct job){ .pid = -1, .report = -1 })

/* Call WORK with ARG in a child. */
int job_begin(int (*work)(const void *arg, struct error *err), const void *arg, struct job *ret,
	      struct error *err);

/* Wait for the child: 0, or -EIO with the message of WORK's error if that failed. */
int job_end(struct job *job, struct error *err);
