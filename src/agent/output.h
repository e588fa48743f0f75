/* The output of services: a pipe, which the agent copies to a log file and rotates that. */
#pragma once

#include <stdint.h>

struct output {
	const char *path; /* NULL: the agent's standard error */
	int read_fd;      /* to poll; -1 if there is no pipe */
	int write_fd;     /* the service's standard output and error; kept open across restarts */
	int file;
	uint64_t size;
};

/* Open OUTPUT for the log file PATH (may be NULL); if that fails, the agent's log is used. */
void output_open(struct output *output, const char *path);

/* Copy the contents of the pipe to the file. */
void output_drain(struct output *output);
