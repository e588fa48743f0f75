/*
 * The values of options that are not on the command line: from the cluster file, else the
 * environment, else the user's settings.
 */
#pragma once

#include "cmd/command.h"

/* The file given to a command. */
struct values_file {
	struct cluster_file file; /* options point into it */
	bool was_read;
	struct strlist overridden; /* options that it gives, and the command line, too */
};

/*
 * Set the options of COMMAND that are not in GIVEN, and add those that were set, except from
 * settings, to GIVEN; also set *PROFILE_NAME. The file is read to RET_FILE; NULL: it is not read.
 * Errors in settings are reported by defaults_check().
 */
int values_take(const struct command *command, struct strlist *given, const char **profile_name,
		struct values_file *ret_file, struct error *err);

void values_release_file(struct values_file *file);
