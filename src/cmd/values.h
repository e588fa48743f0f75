/*
 * Where the values of options come from that the command line does not give: the file that
 * describes a cluster, over the environment, over the person's settings.
 */
#pragma once

#include "cmd/command.h"

/* The file that a command was given. */
struct values_file {
	struct cluster_file file; /* options point into it */
	bool was_read;
	struct strlist overridden; /* options that it gives, and the command line, too */
};

/*
 * Set what COMMAND can be told and GIVEN does not name, adding to GIVEN what was set but for
 * settings; *PROFILE_NAME is what they make it.  The file is read to RET_FILE; NULL: it is not.
 * What is wrong with a setting is told by defaults_check().
 */
int values_take(const struct command *command, struct strlist *given, const char **profile_name,
		struct values_file *ret_file, struct error *err);

void values_release_file(struct values_file *file);
