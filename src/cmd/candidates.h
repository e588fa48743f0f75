/* What a shell can offer for the word that is being typed. */
#pragma once

#include "cmd/command.h"

/* The line that stands for all files that the shell knows. */
#define CANDIDATES_FILES ":files"

/*
 * Add to RET what the last of WORDS (ended by NULL, without the program's name) can be, in lines of
 * "WORD" or "WORD\tDESCRIPTION"; a WORD that ends in '=' or ':' goes on.  Nodes are those of
 * PROFILE_NAME, unless WORDS name another.
 */
void candidates_find(const struct command *const *list, const char *profile_name, char **words,
		     struct strlist *ret);
