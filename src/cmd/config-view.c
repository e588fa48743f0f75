/* `config view`: all defaults that were kept. */

#include <string.h>

#include "base/cleanup.h"
#include "cmd/config.h"
#include "data/settings.h"

static struct {
	const char *output;
} arg = {
	.output = "text",
};

static const struct opt options[] = {
	OPT_CHOICE('o', "output", &arg.output, "text|json", "how to print it"),
	OPT_END,
};

static int run(arg_unused struct command_context *ctx, struct error *err)
{
	cleanup_with(settings_release) struct settings settings = SETTINGS_INIT;
	cleanup_free char *json = NULL;
	int r = settings_load(&settings, err);

	if (r < 0)
		return r;
	if (strcmp(arg.output, "json") == 0) {
		json = settings_print(&settings);
		printf("%s", json);
		return 0;
	}
	for (size_t i = 0; i < settings.count; i++)
		printf("- %s: %s\n", settings.items[i].key, settings.items[i].value);
	return 0;
}

const struct command cmd_config_view = {
	.name = "view",
	.summary = "print all defaults that were kept",
	.options = options,
	.examples = "manykube config view\n"
		    "manykube config view -o json\n",
	.flags = COMMAND_NO_SETTINGS,
	.run = run,
};
