/* Convert values of options to values of the record. */

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "cmd/setting-options.h"
#include "record/options.h"
#include "record/setting-check.h"

/* Make the paths at the start of WORDS absolute. */
static void complete_list(struct strlist *words)
{
	struct strlist absolute = STRLIST_INIT;
	const char *word;

	strlist_for_each(word, words) {
		cleanup_free char *host = xstrndup(word, strcspn(word, ":"));
		cleanup_free char *real = *host && *host != '/' ? realpath(host, NULL) : NULL;

		strlist_addf(&absolute, "%s%s", real ? real : host, word + strlen(host));
	}
	strlist_release(words);
	*words = absolute;
}

static void complete_member(const struct setting *setting, void *member)
{
	const char **path = member;
	char *real;

	if (setting->type == SETTING_PATHS)
		complete_list(member);
	if (setting->resolve && *path)
		*path = setting->resolve(*path);
	if (setting->type != SETTING_PATH && !setting->is_path)
		return;
	if (!*path || **path == '/' || (setting->is_path && !setting->is_path(*path)))
		return;
	/* The option points to it until the program exits. */
	real = realpath(*path, NULL);
	*path = real ? real : *path;
}

void setting_options_complete(struct cluster_settings *settings)
{
	const struct setting *setting;

	setting_for_each(setting)
		if (setting_is_of_cluster(setting))
			complete_member(setting, setting_in_cluster(setting, settings));
}

void setting_options_complete_node(struct node_settings *settings)
{
	const struct setting *setting;

	setting_for_each(setting)
		if (setting_is_of_node(setting))
			complete_member(setting, setting_in_node(setting, settings));
}
