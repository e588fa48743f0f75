/* `config set`: store a setting. */

#include "base/cleanup.h"
#include "cmd/config.h"
#include "data/settings.h"

static int run(struct command_context *ctx, struct error *err)
{
	const char *key = ctx->argv[0];
	const char *value = ctx->argv[1];
	const struct opt *option;
	int r = config_find(key, &option, err);

	if (r < 0)
		return r;
	if (!*value) {
		error_because(err, &reason_usage, -EINVAL, "%s: the value is empty", key);
		return error_hint(err, -EINVAL, "'manykube config unset %s' removes it", key);
	}
	/* The option itself is not used; this only checks the value. */
	r = opt_set(option, value, err);
	if (r < 0) {
		error_prefix(err, r, "%s", key);
		return error_reason(err, r, &reason_usage);
	}
	r = settings_change(key, value, err);
	return r < 0 ? r : 0;
}

const struct command cmd_config_set = {
	.name = "set",
	.operands = "KEY VALUE",
	.summary = "store the default of an option",
	.examples = "manykube config set memory 4g\n"
		    "manykube config set profile dev\n"
		    "manykube config set offline true\n",
	.min_operands = 2,
	.max_operands = 2,
	.flags = COMMAND_NO_SETTINGS | COMMAND_AUDITED,
	.complete = COMPLETE_SETTING,
	.run = run,
};
