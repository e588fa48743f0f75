/* `version`: which manykube this is. */

#include <string.h>

#include "cmd/command.h"

static struct {
	const char *output;
	bool brief;
} arg = {
	.output = "text",
};

static const struct opt options[] = {
	OPT_CHOICE('o', "output", &arg.output, "text|json", "how to print it"),
	OPT_FLAG(0, "short", &arg.brief, "print the bare version"),
	OPT_END,
};

static int run(arg_unused struct command_context *ctx, arg_unused struct error *err)
{
	if (strcmp(arg.output, "json") == 0)
		printf("{\"manykubeVersion\":\"v%s\"}\n", MANYKUBE_VERSION);
	else if (arg.brief)
		printf("v%s\n", MANYKUBE_VERSION);
	else
		printf("manykube version: v%s\n", MANYKUBE_VERSION);
	return 0;
}

const struct command cmd_version = {
	.name = "version",
	.summary = "print the version of manykube",
	.examples = "manykube version\n"
		    "manykube version -o json\n",
	.options = options,
	.flags = COMMAND_NO_SETTINGS,
	.run = run,
};
