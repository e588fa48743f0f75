/* The values of options that are not on the command line. */

#include "cmd/values.h"

#include <string.h>

#include "base/log.h"
#include "cmd/defaults.h"

/* --file can come from the environment, too, but is needed first. */
static int find_path(const struct command *command, struct strlist *given, const char **ret,
		     struct error *err)
{
	const struct opt *const tables[] = { command_options(command), NULL };
	const struct opt *const option = opt_find(tables, "file", strlen("file"));
	const struct opt alone[] = { *option, OPT_END };
	int r = opt_take_environment(alone, false, given, err);

	*ret = *option->to.string;
	return r;
}

/* NAMED: the user has chosen *PROFILE_NAME, which overrides the file. */
static int take_file(const struct command *command, struct strlist *given, bool named,
		     const char **profile_name, struct values_file *ret, struct error *err)
{
	const struct cluster_file_before before = { .name = named ? *profile_name : NULL,
						    .usual_name = *profile_name,
						    .has_version = strlist_has(
							    given, "kubernetes-version") };
	struct cluster_file *file = &ret->file;
	const char *warning;
	const char *option;
	const char *path;
	int r = find_path(command, given, &path, err);

	if (r < 0 || !path)
		return r;
	r = cluster_file_read(path, &before, file, err);
	if (r < 0)
		return r;
	ret->was_read = true;
	strlist_for_each(warning, &file->warnings)
		log_warning("%s", warning);
	strlist_for_each(option, &file->given)
		if (strlist_has(given, option))
			strlist_add(&ret->overridden, option);
	cluster_file_take(file, command->wanted, given);
	/* So that advice names the cluster. */
	if (strcmp(*profile_name, file->name) != 0)
		strlist_add(given, "profile");
	*profile_name = file->name;
	return 0;
}

int values_take(const struct command *command, struct strlist *given, const char **profile_name,
		struct values_file *ret_file, struct error *err)
{
	bool named = strlist_has(given, "profile");
	bool is_made;
	int r = opt_take_environment(command_global_options, false, given, err);
	int last;

	/* The name is needed for the file, which may contain another one. */
	defaults_take(command_global_options, NULL, given);
	if (r == 0 && command->wanted && ret_file)
		r = take_file(command, given, named, profile_name, ret_file, err);
	/* Other commands may make nodes of a cluster, for which variables count. */
	is_made = command->wanted && defaults_cluster_exists(*profile_name);
	last = opt_take_environment(command_options(command), is_made, given, r < 0 ? NULL : err);
	defaults_take(command_options(command), *profile_name, given);
	return r < 0 ? r : last;
}

void values_release_file(struct values_file *file)
{
	cluster_file_release(&file->file);
	strlist_release(&file->overridden);
	file->was_read = false;
}
