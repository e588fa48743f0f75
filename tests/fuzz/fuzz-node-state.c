/* What a node's agent and kubelet say of themselves, which the node's root can make them say. */

#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "driver/agent-state.h"
#include "node/trouble.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_free char *text = xstrndup((const char *)data, size);
	cleanup_free char *words = trouble_last_words(text);
	cleanup_with(agent_state_release) struct agent_state state = AGENT_STATE_INIT;

	agent_state_parse(text, &state);
	assert(agent_state_failures(&state, "kubelet") == 0 || strstr(text, "kubelet backoff "));
	assert(!agent_state_is_stopping(&state) || strstr(text, " stopp"));
	assert(!words || strlen(words) <= strlen(text));
	return 0;
}
