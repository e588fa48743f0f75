/* The documentation that comes out of the tables of commands, options and reasons. */
#pragma once

#include "cli/document.h"
#include "cmd/command.h"

/* All about the program whose commands LIST has. */
void reference_man(const struct command *const *list, FILE *out);

/* Its commands, options and environment, as Markdown. */
void reference_commands(const struct command *const *list, FILE *out);

/* Its exit codes, as Markdown. */
void reference_exit_codes(const struct command *const *list, FILE *out);
