/* A program that runs for the host, with pipes or a terminal of its own. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "agent/frames.h"

struct program {
	pid_t pid;      /* -1: it has ended */
	pid_t group;    /* the process group to kill */
	bool terminal;  /* INPUT and the first output are the same descriptor */
	int input;      /* -1: closed */
	int outputs[2]; /* -1: ended */
};

/* Start the program of REQUEST; returns 0 or an errno. */
int program_start(const struct frame_open *request, struct program *ret);

void program_resize(const struct program *program, uint16_t rows, uint16_t columns);

/* Close everything, and kill the program if it still runs. */
void program_end(struct program *program);
