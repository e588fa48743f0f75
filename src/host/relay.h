/*
 * The standard streams of a program that runs in a node.
 *
 * Such a program is not trusted.  Given our terminal, it could inject commands; given a directory,
 * it could leave its node; given a file, even one opened for reading, it could reopen, lock,
 * truncate or fill it.  So it gets pipes: ours, opened anew, or others whose data we copy.
 */
#pragma once

#include <sys/types.h>

#include "base/process.h"

struct relay {
	int ours[3];      /* our streams, by number; -1: nothing to copy */
	int theirs[3];    /* the descriptors for the program */
	int between[3];   /* our ends of the program's pipes, or -1 */
	uint64_t left[3]; /* the bytes of each output that may still be written */
	bool stops;       /* the program's output ends after that, with it, and if it is silent */
};

#define RELAY_INIT                       \
	((struct relay){ { -1, -1, -1 }, \
			 { -1, -1, -1 }, \
			 { -1, -1, -1 }, \
			 { UINT64_MAX, UINT64_MAX, UINT64_MAX } })

/* Prepare the streams described by OPTIONS, in a process made for one program: closes all other
 * descriptors except REPORT.  Returns -1 and sets errno on failure. */
int relay_open(const struct process_options *options, int report, struct relay *ret);

/* In the program's process: set up its standard streams; all others become close-on-exec. */
int relay_become(const struct relay *relay);

/* How long a program whose output is closed at its end may write nothing; tests shorten it. */
extern int relay_silence_ms;

/* Copy data until PROGRAM, a child, has ended and its output is written; -ETIMEDOUT if it was
 * silent for too long.  It may be frozen then, so nobody should wait for it. */
int relay_run(struct relay *relay, pid_t program);
