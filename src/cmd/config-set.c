/* `config set`: store a setting. */

#include <string.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "cmd/config.h"
#include "cmd/defaults.h"
#include "cmd/start-options.h"
#include "data/settings.h"
#include "describe/choices.h"

/* Check the options of `start`, of which only the one that was set differs from its default, as
 * `start` does. */
static int check_as_start(struct error *err)
{
	int r = start_arguments_check(&start_arguments, err);

	if (r < 0 && err->hint)
		return error_hint(err, r,
				  "use a larger value; smaller ones are for --force of 'manykube "
				  "start'");
	if (r == 0)
		r = start_arguments_finish(&start_arguments, err);
	return r < 0 ? r : choices_check(&start_arguments.wanted, err);
}

static void mention_missing(const char *key, const char *value)
{
	if (strcmp(key, SETTING_PROFILE) == 0 && !defaults_cluster_exists(value))
		log_warning("there is no cluster '%s' yet: 'manykube start' creates it", value);
}

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
	if (r == 0)
		r = check_as_start(err);
	if (r < 0) {
		defaults_name_setting(err, r, key);
		return error_reason(err, r, &reason_usage);
	}
	r = settings_change(key, value, err);
	if (r < 0)
		return r;
	mention_missing(key, value);
	if (defaults_are_beyond_user(option, value))
		log_warning("with sudo, this value is not used, because every program of yours can "
			    "change it; give --%s",
			    key);
	return 0;
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
