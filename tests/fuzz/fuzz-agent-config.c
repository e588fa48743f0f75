#include <stdlib.h>
#include <string.h>

#include "agent/config.h"
#include "base/macro.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *words[AGENT_ARGUMENTS_MAX + 1];
	struct agent_config config;
	const char *problem;
	unsigned line;
	char *copy;

	if (agent_config_parse((const char *)data, size, &config, &problem, &line) == 0)
		for (unsigned i = 0; i < config.count; i++)
			assert(config.services[i].argv[0][0] == '/');
	agent_config_release(&config);

	copy = strndup((const char *)data, size);
	for (unsigned i = agent_arguments_parse(copy, "A", words, AGENT_ARGUMENTS_MAX); i > 0; i--)
		assert(words[i - 1][0]);
	free(copy);
	return 0;
}
