/* Parsing the state that a node's agent writes. */

#include "driver/agent-state.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/parse.h"
#include "base/strlist.h"

/* NAME STATE PID SINCE RESTARTS */
#define WORDS 5

#define RESTARTS_MAX 1000000

static unsigned restarts_of(const char *word)
{
	unsigned long long number;

	return parse_number(word, 0, RESTARTS_MAX, &number, NULL) < 0 ? 0 : (unsigned)number;
}

void agent_state_parse(const char *text, struct agent_state *ret)
{
	cleanup_with(strlist_release) struct strlist lines = STRLIST_INIT;
	struct agent_state state = AGENT_STATE_INIT;
	const char *line;

	strlist_split(&lines, text, '\n');
	state.services = xcalloc(lines.count + 1, sizeof(*state.services));
	strlist_for_each(line, &lines) {
		cleanup_with(strlist_release) struct strlist words = STRLIST_INIT;

		strlist_split(&words, line, ' ');
		if (words.count == WORDS)
			state.services[state.count++] = (struct service_state){
				.name = xstrdup(words.items[0]),
				.state = xstrdup(words.items[1]),
				.restarts = restarts_of(words.items[WORDS - 1]),
			};
	}
	*ret = state;
}

void agent_state_release(struct agent_state *state)
{
	for (size_t i = 0; i < state->count; i++) {
		free(state->services[i].name);
		free(state->services[i].state);
	}
	free(state->services);
	*state = AGENT_STATE_INIT;
}

const struct service_state *agent_state_find(const struct agent_state *state, const char *name)
{
	for (size_t i = 0; i < state->count; i++)
		if (strcmp(state->services[i].name, name) == 0)
			return &state->services[i];
	return NULL;
}

bool agent_state_runs(const struct agent_state *state, const char *name)
{
	const struct service_state *service = agent_state_find(state, name);

	return service && strcmp(service->state, "running") == 0;
}

unsigned agent_state_failures(const struct agent_state *state, const char *name)
{
	const struct service_state *service = agent_state_find(state, name);

	return service && strcmp(service->state, "backoff") == 0 ? service->restarts : 0;
}

/* The agent stops services only when the node shuts down. */
bool agent_state_is_stopping(const struct agent_state *state)
{
	for (size_t i = 0; i < state->count; i++)
		if (strcmp(state->services[i].state, "stopping") == 0 ||
		    strcmp(state->services[i].state, "stopped") == 0)
			return true;
	return false;
}
