/* `config unset`: remove a setting. */

#include "base/cleanup.h"
#include "cmd/config.h"
#include "data/settings.h"

static int run(struct command_context *ctx, struct error *err)
{
	cleanup_with(settings_release) struct settings settings = SETTINGS_INIT;
	const char *key = ctx->argv[0];
	const struct opt *option;
	int r = settings_load(&settings, err);

	if (r < 0)
		return r;
	/* An existing setting can be removed, whatever its name; otherwise the name must be a known
	 * one. */
	if (!settings_get(&settings, key)) {
		r = config_find(key, &option, err);
		return r;
	}
	r = settings_change(key, NULL, err);
	return r < 0 ? r : 0;
}

const struct command cmd_config_unset = {
	.name = "unset",
	.elsewhere = "rm|remove|delete",
	.operands = "KEY",
	.summary = "remove a setting, if it is set",
	.examples = "manykube config unset memory\n",
	.min_operands = 1,
	.max_operands = 1,
	.flags = COMMAND_NO_SETTINGS | COMMAND_AUDITED,
	.complete = COMPLETE_SETTING,
	.run = run,
};
