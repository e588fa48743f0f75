/*
 * What a node's agent says of its services: a line of five words for each, see agent/agent.c.
 *
 * The node's root can make it say anything, so every text is read, and lines that are something
 * else are left out.
 */
#pragma once

#include "base/macro.h"

struct service_state {
	char *name;        /* "kubelet" */
	char *state;       /* "running", "backoff", "stopping", ... */
	unsigned restarts; /* since the node started; 0 if the line has no number there */
};

struct agent_state {
	struct service_state *services;
	size_t count;
};

#define AGENT_STATE_INIT ((struct agent_state){ NULL })

/* Read TEXT; RET is for agent_state_release(). */
void agent_state_parse(const char *text, struct agent_state *ret);
void agent_state_release(struct agent_state *state);

/* What is said of the service NAME; NULL if nothing. */
const struct service_state *agent_state_find(const struct agent_state *state, const char *name);

/* Whether the service NAME runs. */
bool agent_state_runs(const struct agent_state *state, const char *name);

/* How often the service NAME was started again while it is not running now; 0 if it runs. */
unsigned agent_state_failures(const struct agent_state *state, const char *name);

/* Whether the node is shutting down. */
bool agent_state_is_stopping(const struct agent_state *state);
