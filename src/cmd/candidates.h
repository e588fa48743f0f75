/* Completion candidates for the word being typed. */
#pragma once

#include "cmd/command.h"

/* The line that asks the shell to complete file names. */
#define CANDIDATES_FILES ":files"

/*
 * Add to RET the candidates for the last of WORDS (ended by NULL, without the program's name), as
 * lines of "WORD" or "WORD\tDESCRIPTION"; a WORD that ends in '=' or ':' is not complete yet. Nodes
 * are those of PROFILE_NAME, unless WORDS name another.
 */
void candidates_find(const struct command *const *list, const char *profile_name, char **words,
		     struct strlist *ret);
