/* The services that the agent keeps running. */
#pragma once

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "agent/config.h"

/* Set up the services of CONFIG, which must outlive them.  Their state is written to STATE_FILE in
 * the node and, unless STATE_FD is -1, to STATE_FD, a file of 4096 bytes on the host.  Closes
 * STATE_FD. */
void services_open(const struct agent_config *config, const char *state_file, int state_fd);

/* Start services that are due.  Returns the milliseconds until the next call, or -1 to wait for
 * events only. */
int services_advance(void);

/* Record that the child PID ended with STATUS, from waitpid(); returns whether it was a service. */
bool services_ended(pid_t pid, int status);

/* Add descriptors to POLLS, which has room for AGENT_SERVICES_MAX + 1; returns their number. */
unsigned services_poll(struct pollfd *polls);

/* Handle input on the polled descriptors. */
void services_read(void);

/* Start no more services. */
void services_close(void);

/* Send SIGNAL to the service INDEX, to stop it; returns whether it had a process. */
bool services_signal(unsigned index, int signal);
bool services_runs(unsigned index);
