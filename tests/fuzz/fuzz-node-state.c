/* What a node's agent and kubelet say of themselves, which the node's root can make them say. */

#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "driver/tree.h"
#include "node/trouble.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_free char *text = xstrndup((const char *)data, size);
	cleanup_free char *words = trouble_last_words(text);
	unsigned restarts = trouble_restarts(text, "kubelet");

	assert(restarts == 0 || strstr(text, "kubelet backoff "));
	assert(!node_state_is_stopping(text) || strstr(text, " stopp"));
	assert(!words || strlen(words) <= strlen(text));
	return 0;
}
