/* A service's output: a pipe that the agent empties into a log file, which it rotates. */
#pragma once

#include <stdint.h>

struct output {
	const char *path; /* NULL: the agent's own stderr */
	int read_fd;      /* to poll; -1 without a pipe */
	int write_fd;     /* for the service's stdout and stderr; stays open over restarts */
	int file;
	uint64_t size;
};

/* Open OUTPUT for the log file PATH (may be NULL); without success the output is the agent's. */
void output_open(struct output *output, const char *path);

/* Move what the pipe holds to the file. */
void output_drain(struct output *output);
