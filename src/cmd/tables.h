/* The tables of options that a command line is read with: ours, and those of minikube's. */
#pragma once

#include "cmd/command.h"

/* The options allowed before the name of a command; ends with NULL. */
extern const struct opt *const tables_before_command[];

#define TABLES_MOST 4

/* The options allowed for COMMAND, ended by NULL: its own before those of every command, real ones
 * before absent ones. */
void tables_list(const struct command *command, const struct opt *ret[TABLES_MOST + 1]);

/* Warn of options in GIVEN that do not exist in COMMAND and have no effect. */
void tables_warn_of_needless(const struct command *command, const struct strlist *given);
