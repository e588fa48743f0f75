/* Finding a command by its name. */

#include <string.h>

#include "base/cleanup.h"
#include "base/suggest.h"
#include "cmd/command.h"
#include "cmd/minikube.h"

/* Whether WORD is one of NAMES, "one|other" or NULL. */
static bool is_among(const char *word, const char *names)
{
	cleanup_with(strlist_release) struct strlist words = STRLIST_INIT;

	if (names)
		strlist_split(&words, names, '|');
	return strlist_has(&words, word);
}

bool command_is(const struct command *command, const char *name)
{
	return strcmp(command->name, name) == 0 || is_among(name, command->alias);
}

/* The substitute for minikube's command NAME of PARENT, or NULL. */
static const char *find_substitute(const char *parent, const char *name)
{
	size_t len = strlen(parent);

	for (const struct absent_command *absent = minikube_commands; absent->path; absent++)
		if (strncmp(absent->path, parent, len) == 0 && absent->path[len] == ' ' &&
		    strcmp(absent->path + len + 1, name) == 0)
			return absent->instead;
	return NULL;
}

int command_find(const struct command *const *list, const char *parent, const char *name,
		 const struct command **ret_command, struct error *err)
{
	struct suggest suggest = SUGGEST_INIT(name);
	const char *same = NULL;
	const char *instead = find_substitute(parent, name);

	for (; *list; list++) {
		if (command_is(*list, name)) {
			*ret_command = *list;
			return 0;
		}
		if (!((*list)->flags & COMMAND_HIDDEN))
			suggest_offer(&suggest, (*list)->name);
		/* Its name in similar programs, such as kind or k3d. */
		if (is_among(name, (*list)->elsewhere))
			same = (*list)->name;
	}
	error_because(err, &reason_usage, -EINVAL, "unknown command '%s %s'", parent, name);
	if (instead)
		return error_hint(err, -EINVAL, "%s", instead);
	if (same || suggest.nearest)
		return error_hint(err, -EINVAL, "did you mean '%s %s'?", parent,
				  same ? same : suggest.nearest);
	return error_hint(err, -EINVAL, "'%s --help' lists the commands", parent);
}

int command_check_operands(const struct command *command, const char *path,
			   const struct strlist *operands, struct error *err)
{
	const char *instead = NULL;

	if (operands->count < command->min_operands) {
		error_because(err, &reason_usage, -EINVAL, "'%s' needs %s", path,
			      command->operands);
	} else if (command->flags & COMMAND_PASSES_REST ||
		   operands->count <= command->max_operands) {
		return 0;
	} else {
		error_because(err, &reason_usage, -EINVAL, "'%s': unexpected argument '%s'", path,
			      operands->items[command->max_operands]);
		instead = find_substitute(path, operands->items[0]);
	}
	if (instead)
		return error_hint(err, -EINVAL, "%s", instead);
	return error_hint(err, -EINVAL, "see '%s --help'", path);
}
