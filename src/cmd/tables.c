/* The tables of options that a command line is read with. */

#include "cmd/tables.h"

#include "base/log.h"
#include "cmd/minikube.h"
#include "cmd/setting-options.h"

const struct opt *const tables_before_command[] = { command_global_options, minikube_global_options,
						    NULL };

const struct opt *command_options(const struct command *command)
{
	return setting_options(command->options);
}

void tables_list(const struct command *command, const struct opt *ret[TABLES_MOST + 1])
{
	size_t count = 0;

	if (command_options(command))
		ret[count++] = command_options(command);
	ret[count++] = command_global_options;
	if (command->absent)
		ret[count++] = command->absent;
	ret[count++] = minikube_global_options;
	ret[count] = NULL;
}

static void warn_of_given(const struct opt *table, const struct strlist *given)
{
	for (const struct opt *opt = table; opt && opt->type != OPT_TYPE_END; opt++)
		if (strlist_has(given, opt->name))
			log_warning("--%s is ignored: %s", opt->name, opt->help);
}

void tables_warn_of_needless(const struct command *command, const struct strlist *given)
{
	warn_of_given(command->absent, given);
	warn_of_given(minikube_global_options, given);
}
