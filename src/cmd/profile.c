/* `profile`: the clusters there are. */

#include "cmd/command.h"

static const struct command *const subcommands[] = {
	&cmd_profile_list,
	NULL,
};

const struct command cmd_profile = {
	.name = "profile",
	.summary = "work with the clusters there are",
	.subcommands = subcommands,
};
