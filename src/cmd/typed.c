/* Read a command line that is still being typed. */

#include "cmd/typed.h"

#include <string.h>

const struct command *typed_find(const struct command *const *list, const char *name)
{
	for (; list && *list; list++)
		if (command_is(*list, name))
			return *list;
	return NULL;
}

const struct opt *typed_option(const struct typed *typed, const char *word, const char **ret_value)
{
	const struct opt *opt = NULL;
	size_t len;

	*ret_value = NULL;
	if (word[1] == '-') {
		len = strcspn(word, "=");
		if (word[len])
			*ret_value = word + len + 1;
		return opt_find(typed->tables, word + 2, len - 2);
	}
	while (*++word) {
		opt = opt_find_letter(typed->tables, *word);
		if (!opt || !opt_takes_value(opt))
			continue;
		if (word[1])
			*ret_value = word + 1 + (word[1] == '=');
		break;
	}
	return opt;
}

static void note_value(struct typed *typed, const struct opt *opt, const char *value)
{
	if (strcmp(opt->name, "profile") == 0)
		typed->profile_name = value;
}

static void use_command(struct typed *typed, const struct command *command)
{
	size_t i = 0;

	typed->command = command;
	typed->next = command->subcommands;
	if (command_options(command))
		typed->tables[i++] = command_options(command);
	typed->tables[i++] = command_global_options;
	typed->tables[i] = NULL;
}

void typed_read(struct typed *typed, const char *word)
{
	const struct command *command;
	const struct opt *opt;
	const char *value;

	if (typed->pending) {
		note_value(typed, typed->pending, word);
		typed->pending = NULL;
		return;
	}
	if (!typed->no_options && strcmp(word, "--") == 0) {
		typed->no_options = true;
		return;
	}
	if (!typed->no_options && word[0] == '-' && word[1]) {
		opt = typed_option(typed, word, &value);
		if (opt && value)
			note_value(typed, opt, value);
		else if (opt && opt_takes_value(opt))
			typed->pending = opt;
		return;
	}
	command = typed->operands.count == 0 ? typed_find(typed->next, word) : NULL;
	if (command)
		use_command(typed, command);
	else
		strlist_add(&typed->operands, word);
}
