/* `config get`: print settings. */

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
	OPT_CHOICE('o', "output", &arg.output, "text|json", "output format for all settings",
		   .once = true),
	OPT_END,
};

static void print_all(const struct settings *settings)
{
	cleanup_free char *json = settings_print(settings);

	if (strcmp(arg.output, "json") == 0)
		printf("%s", json);
	else
		for (size_t i = 0; i < settings->count; i++)
			printf("- %s: %s\n", settings->items[i].key, settings->items[i].value);
}

static int run(struct command_context *ctx, struct error *err)
{
	cleanup_with(settings_release) struct settings settings = SETTINGS_INIT;
	const struct opt *option = NULL;
	const char *value;
	int r = ctx->argc > 0 ? config_find(ctx->argv[0], &option, err) : 0;

	if (r == 0)
		r = settings_load(&settings, err);
	if (r < 0)
		return r;
	if (!option) {
		print_all(&settings);
		return 0;
	}
	value = settings_get(&settings, option->name);
	if (!value) {
		error_because(err, &reason_usage, -ENOENT, "'%s' is not set", option->name);
		return error_hint(err, -ENOENT, "'manykube config get' lists all settings");
	}
	printf("%s\n", value);
	return 0;
}

const struct command cmd_config_get = {
	.name = "get",
	.elsewhere = "list|ls|show",
	.operands = "[KEY]",
	.summary = "print a setting, or all of them",
	.options = options,
	.examples = "manykube config get\n"
		    "manykube config get memory\n",
	.max_operands = 1,
	.flags = COMMAND_NO_SETTINGS,
	.complete = COMPLETE_SETTING,
	.run = run,
};
