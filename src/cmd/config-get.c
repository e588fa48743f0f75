/* `config get`: a default that was kept. */

#include "base/cleanup.h"
#include "cmd/config.h"
#include "data/settings.h"

static int run(struct command_context *ctx, struct error *err)
{
	cleanup_with(settings_release) struct settings settings = SETTINGS_INIT;
	const struct opt *option;
	const char *value;
	int r = config_find(ctx->argv[0], &option, err);

	if (r == 0)
		r = settings_load(&settings, err);
	if (r < 0)
		return r;
	value = settings_get(&settings, option->name);
	if (!value) {
		error_because(err, &reason_usage, -ENOENT, "'%s' is not set", option->name);
		return error_hint(err, -ENOENT, "'manykube config view' shows what is set");
	}
	printf("%s\n", value);
	return 0;
}

const struct command cmd_config_get = {
	.name = "get",
	.operands = "KEY",
	.summary = "print a default that was kept",
	.examples = "manykube config get memory\n",
	.min_operands = 1,
	.max_operands = 1,
	.flags = COMMAND_NO_SETTINGS,
	.complete = COMPLETE_SETTING,
	.run = run,
};
