/* Where the values of options come from that the command line does not give. */

#include "cmd/values.h"

#include "cmd/defaults.h"

int values_take(const struct command *command, bool without_file, struct strlist *given,
		const char **profile_name, struct error *err)
{
	bool named = strlist_has(given, "profile");
	int r = opt_take_environment(command_global_options, given, err);
	int last;

	/* The name is needed for the file, which may say another one. */
	defaults_take(command_global_options, NULL, given);
	if (r == 0 && command->take_file && !without_file)
		r = command->take_file(given, named, profile_name, err);
	last = opt_take_environment(command_options(command), given, r < 0 ? NULL : err);
	defaults_take(command_options(command), *profile_name, given);
	return r < 0 ? r : last;
}
