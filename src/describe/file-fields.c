/* Descriptions of the fields of the file that describes a cluster. */

#include "describe/file-fields.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/strlist.h"

const char *file_field_key(const struct setting *field)
{
	const char *dot = strrchr(field->name, '.');

	return dot ? dot + 1 : field->name;
}

bool file_field_is_in(const struct setting *field, enum setting_place place, const char *in)
{
	size_t len = strlen(in);
	const char *key = file_field_key(field);

	if (!(field->places & place))
		return false;
	return len == 0 ? key == field->name
			: strncmp(field->name, in, len) == 0 && key == field->name + len + 1;
}

char *file_field_type_words(const struct setting *field)
{
	static const char *const words[] = {
		[SETTING_MAP] = "a mapping",
		[SETTING_NODES] = "a list of mappings",
		[SETTING_WORD] = "a string",
		[SETTING_PATH] = "a path on this host",
		[SETTING_VERSION] = "a version",
		[SETTING_FLAG] = "true or false",
		[SETTING_SIZE] = "a size, for instance 2g",
		[SETTING_SECONDS] = "a duration, for instance 90s or 24h",
		[SETTING_WORDS] = "a list of strings",
		[SETTING_PATHS] = "a list of strings",
		[SETTING_PAIRS] = "a mapping of strings",
		[SETTING_GATES] = "a mapping of names to true or false",
		[SETTING_EXTRA] = "a mapping of components to mappings",
		[SETTING_MIRRORS] = "a mapping of registries to URLs",
		[SETTING_PATCHES] = "a list of mappings",
	};
	cleanup_with(strlist_release) struct strlist choices = STRLIST_INIT;
	cleanup_free char *joined = NULL;

	if (field->type == SETTING_NUMBER && field->most == INT_MAX)
		return xasprintf("a number of at least %u%s", field->least,
				 field->may_be_all ? ", or max" : "");
	if (field->type == SETTING_NUMBER)
		return xasprintf("a number from %u to %u", field->least, field->most);
	if (field->type != SETTING_CHOICE)
		return xasprintf("%s%s", words[field->type], field->may_be_all ? ", or max" : "");
	strlist_split(&choices, field->words, '|');
	joined = strlist_join(&choices, " or ");
	return xstrdup(joined);
}

char *file_field_path(const struct setting *field, enum setting_place place)
{
	return xasprintf("%s%s",
			 place == SETTING_OF_NODE       ? "nodes[]."
			 : place == SETTING_OF_DEFAULTS ? "defaults."
							: "",
			 field->name);
}

char *file_field_usual(const struct setting *field)
{
	const char *usual = field->usual ? field->usual : "";
	bool is_words = *usual == '(';

	return xstrndup(usual + is_words, strlen(usual) - (is_words ? 2 : 0));
}

char *file_field_summary(const struct setting *field)
{
	cleanup_free char *type = file_field_type_words(field);
	cleanup_free char *usual = file_field_usual(field);

	return xasprintf("%s (%s%s%s)", field->help, type, *usual ? "; default: " : "", usual);
}
