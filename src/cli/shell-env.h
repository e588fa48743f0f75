/* Environment variables as commands of the user's shell. */
#pragma once

#include <stddef.h>

#include "base/strbuf.h"

/* The shells that shell_env_print() knows, as words of an option; "none" is no shell. */
#define SHELL_ENV_WORDS "bash|zsh|fish|powershell|none"

struct shell_variable {
	const char *name;
	const char *value;
};

/* The word for the shell that SHELL, a path as in the environment or NULL, names; "bash" for any
 * other POSIX shell. */
const char *shell_env_detect(const char *shell);

/* Add commands of SHELL, one per line, that set the COUNT VARIABLES or, with UNSET, remove them;
 * for "none", NAME=VALUE or NAME. */
void shell_env_print(const char *shell, const struct shell_variable *variables, size_t count,
		     bool unset, struct strbuf *out);

/* Add a comment on how to run the output of COMMAND in SHELL, for PURPOSE ("point your shell to
 * ..."); nothing for "none". */
void shell_env_explain(const char *shell, const char *purpose, const char *command,
		       struct strbuf *out);

/* The command of SHELL that fails, for the output of a command that failed: otherwise 'eval' would
 * report success.  "" if there is none. */
const char *shell_env_failure(const char *shell);
