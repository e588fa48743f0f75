/*
 * Read a command line that is still being typed.
 *
 * They are read as by the dispatcher, but nothing is an error here.
 */
#pragma once

#include "cmd/command.h"

struct typed {
	const struct command *const *list; /* of the whole program */
	const struct command *const *next; /* the commands that may follow, or NULL */
	const struct command *command;     /* the one that was named, or NULL */
	const struct opt *tables[3];
	const struct opt *pending; /* the option whose value comes next, or NULL */
	const char *profile_name;
	struct strlist operands;
	bool no_options; /* -- has ended the options */
};

/* Read the next WORD. */
void typed_read(struct typed *typed, const char *word);

/* The option in WORD, which starts with '-', or NULL; *RET_VALUE is the start of its value, or
 * NULL. */
const struct opt *typed_option(const struct typed *typed, const char *word, const char **ret_value);

/* The command of LIST (may be NULL) called NAME, or NULL. */
const struct command *typed_find(const struct command *const *list, const char *name);
