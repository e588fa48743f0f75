/*
 * The state of services that a node's agent writes: a line of five words for each, see
 * agent/agent.c.
 *
 * The node's root can write any text there, so parsing never fails; invalid lines are ignored.
 */
#pragma once

#include "base/macro.h"

struct service_state {
	char *name;        /* "kubelet" */
	char *state;       /* "running", "backoff", "stopping", ... */
	unsigned restarts; /* since it last ran for 30 s; 0 if the line has no valid number */
};

struct agent_state {
	struct service_state *services;
	size_t count;
};

#define AGENT_STATE_INIT ((struct agent_state){ NULL })

/* Parse TEXT; release RET with agent_state_release(). */
void agent_state_parse(const char *text, struct agent_state *ret);
void agent_state_release(struct agent_state *state);

/* The state of the service NAME; NULL if there is none. */
const struct service_state *agent_state_find(const struct agent_state *state, const char *name);

/* Whether the service NAME runs. */
bool agent_state_runs(const struct agent_state *state, const char *name);

/* The number of restarts of the service NAME if it is waiting for the next one; else 0. */
unsigned agent_state_failures(const struct agent_state *state, const char *name);

/* Whether the node is shutting down. */
bool agent_state_is_stopping(const struct agent_state *state);
