/* Finding a command by its name. */

#include <string.h>

#include "cli/suggest.h"
#include "cmd/command.h"

int command_find(const struct command *const *list, const char *parent, const char *name,
		 const struct command **ret_command, struct error *err)
{
	struct suggest suggest = SUGGEST_INIT(name);

	for (; *list; list++) {
		if (strcmp((*list)->name, name) == 0) {
			*ret_command = *list;
			return 0;
		}
		if (!((*list)->flags & COMMAND_HIDDEN))
			suggest_offer(&suggest, (*list)->name);
	}
	error_because(err, &reason_usage, -EINVAL, "there is no command '%s %s'", parent, name);
	if (suggest.nearest)
		return error_hint(err, -EINVAL, "did you mean '%s %s'?", parent, suggest.nearest);
	return error_hint(err, -EINVAL, "'%s --help' lists the commands there are", parent);
}
