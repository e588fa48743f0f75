/* `config`: the user's defaults of options, and files that describe clusters. */

#include "cmd/config.h"

#include <string.h>

#include "base/suggest.h"
#include "cmd/defaults.h"
#include "cmd/minikube.h"

int config_find(const char *key, const struct opt **ret_option, struct error *err)
{
	static const struct opt *const absent_tables[] = { minikube_start_options,
							   minikube_global_options,
							   minikube_settings, NULL };
	const struct opt *absent = opt_find(absent_tables, key, strlen(key));
	struct suggest suggest = SUGGEST_INIT(key);
	const struct opt *tables[3];

	defaults_tables(commands, tables);
	for (const struct opt *const *table = tables; *table; table++) {
		for (const struct opt *opt = *table; opt->type != OPT_TYPE_END; opt++) {
			if (opt->once)
				continue;
			if (strcmp(opt->name, key) == 0) {
				*ret_option = opt;
				return 0;
			}
			suggest_offer(&suggest, opt->name);
		}
	}
	error_because(err, &reason_usage, -EINVAL, "unknown setting '%s'", key);
	if (absent)
		return error_hint(err, -EINVAL, "%s", absent->help);
	if (suggest.nearest)
		return error_hint(err, -EINVAL, "did you mean '%s'?", suggest.nearest);
	return error_hint(
		err, -EINVAL,
		"most options of 'manykube start' can be set; see 'manykube start --help'");
}

static const struct command *const subcommands[] = {
	&cmd_config_set,
	&cmd_config_get,
	&cmd_config_unset,
	&cmd_config_init,
	&cmd_config_view,
	&cmd_config_explain,
	NULL,
};

const struct command cmd_config = {
	.name = "config",
	.elsewhere = "settings",
	.summary = "store defaults of options; print and explain cluster files",
	.description =
		"A setting is the default of the option of 'manykube start' with the same name, "
		"or of --profile. The command line and the environment override it. Settings of "
		"clusters and nodes, such as memory, apply only to clusters created later. With "
		"sudo, settings that let root act beyond your own rights are not used, because "
		"every program of yours can change them: mount, base-image, kernel, kubelet-binary, "
		"binary-mirror, ports below 1024 or at other addresses than 127.0.0.1, and "
		"subnets that are not private; give those as options, or in a cluster file. A "
		"cluster file describes a whole cluster: 'init' prints a template, 'view' prints "
		"an existing cluster as a file, and 'explain' lists the fields.",
	.examples = "manykube config set memory 4g\n"
		    "manykube config get\n"
		    "manykube config init >cluster.yaml\n"
		    "manykube config view\n",
	.subcommands = subcommands,
};
