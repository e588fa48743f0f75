/*
 * Where the values of options come from that the command line does not give: the file that
 * describes a cluster, over the environment, over the person's settings.
 */
#pragma once

#include "cmd/command.h"

/*
 * Set what COMMAND can be told and GIVEN does not name, adding to GIVEN what was set but for
 * settings; *PROFILE_NAME is what they make it.  No file is read if WITHOUT_FILE.  What is wrong
 * with a setting is told by defaults_check().
 */
int values_take(const struct command *command, bool without_file, struct strlist *given,
		const char **profile_name, struct error *err);
