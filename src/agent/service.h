/* The services that the agent keeps running. */
#pragma once

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "agent/config.h"

/* Take up the services of CONFIG, which must outlive them; STATE_FILE tells others in the node
 * about them, and STATE_FD, unless it is -1, the host: a file of 4096 bytes, closed here. */
void services_open(const struct agent_config *config, const char *state_file, int state_fd);

/* Start what is due now; returns in how many milliseconds to call it again, -1 if only events
 * matter. */
int services_advance(void);

/* The child PID ended with STATUS, as waitpid() gives it; returns whether it was a service. */
bool services_ended(pid_t pid, int status);

/* Add what is to be polled to POLLS, which has room for AGENT_SERVICES_MAX + 1; returns how many.
 */
unsigned services_poll(struct pollfd *polls);

/* Take up what came on the polled descriptors. */
void services_read(void);

/* From now on nothing is started any more. */
void services_close(void);

/* Ask the service INDEX to end, or kill it; returns whether it had a process. */
bool services_signal(unsigned index, int signal);
bool services_runs(unsigned index);
