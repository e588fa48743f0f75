/* The user's settings as defaults of options. */

#include "cmd/defaults.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/log.h"
#include "base/path.h"
#include "data/settings.h"

#define CHANGE_IT "change it with 'manykube config set' or 'manykube config unset'"

/* Options point into them. */
static struct settings settings;

/* The first error found in them. */
static struct error trouble;

/* Those that were not used because of defaults_are_beyond_user(), until the user was told. */
static struct strlist unused = STRLIST_INIT;

void defaults_load(void)
{
	int r;

	error_clear(&trouble);
	strlist_release(&unused);
	settings_release(&settings);
	r = settings_load(&settings, &trouble);
	/* No permission counts as no settings; a home of another user is reported elsewhere. */
	if (r == -EACCES)
		error_clear(&trouble);
}

const char *defaults_profile(void)
{
	const char *active = settings_get(&settings, SETTING_PROFILE);

	return active ? active : PROFILE_DEFAULT_NAME;
}

bool defaults_must_name(const char *profile_name)
{
	const char *variable = getenv("MANYKUBE_PROFILE");

	return strcmp(profile_name, defaults_profile()) != 0 ||
	       (variable && *variable && strcmp(profile_name, variable) != 0);
}

bool defaults_cluster_exists(const char *name)
{
	cleanup_free char *dir = NULL;

	return profile_dir(name, &dir, NULL) == 0 && file_exists(dir);
}

bool defaults_are_beyond_user(const struct opt *opt, const char *value)
{
	return opt->beyond_user && path_person_uid() != 0 && opt->beyond_user(value);
}

/* The value of OPT in the settings, unless root may not use it for the user; NULL if there is none.
 */
static const char *find_usable(const struct opt *opt)
{
	const char *value = settings_get(&settings, opt->name);

	return value && geteuid() == 0 && defaults_are_beyond_user(opt, value) ? NULL : value;
}

static const char *look_up(const struct opt *opt, const void *data)
{
	const char *profile_name = data;
	const char *value;

	if (opt->when_made && profile_name && defaults_cluster_exists(profile_name))
		return NULL;
	value = find_usable(opt);
	if (!value && settings_get(&settings, opt->name) && !strlist_has(&unused, opt->name))
		strlist_add(&unused, opt->name);
	return value;
}

void defaults_take(const struct opt *table, const char *profile_name, const struct strlist *given)
{
	cleanup_free char *path = NULL;
	int r;

	if (trouble.text)
		return;
	r = opt_take_settings(table, look_up, profile_name, given, &trouble);
	if (r == 0 || settings_path(&path, NULL) < 0)
		return;
	(void)error_prefix(&trouble, r, "'%s'", path);
	(void)error_hint(&trouble, r, CHANGE_IT);
}

int defaults_check(struct error *err)
{
	const char *name;

	strlist_for_each(name, &unused)
		log_warning("the setting '%s' is not used with sudo, because every program of "
			    "yours can change it; give --%s",
			    name, name);
	strlist_release(&unused);
	if (!trouble.text)
		return 0;
	error_clear(err);
	*err = trouble;
	trouble = ERROR_INIT;
	return -EINVAL;
}

void defaults_name_setting(struct error *err, int code, const char *key)
{
	size_t len = strlen(key);
	cleanup_free char *rest = NULL;

	/* "--memory: a node needs" becomes "memory: a node needs". */
	if (strncmp(err->text, "--", 2) == 0 && strncmp(err->text + 2, key, len) == 0 &&
	    err->text[2 + len] == ':')
		rest = xstrdup(err->text + 2 + len + 1 + strspn(err->text + 3 + len, " "));
	if (rest)
		(void)error_set(err, code, "%s", rest);
	(void)error_prefix(err, code, "%s", key);
}

void defaults_explain(const struct opt *table, const struct strlist *given, int code,
		      struct error *err)
{
	const struct opt *const tables[] = { table, NULL };
	cleanup_free char *path = NULL;
	const struct opt *opt;
	size_t len;

	if (!table || !err->text || strncmp(err->text, "--", 2) != 0)
		return;
	len = strcspn(err->text + 2, ": =");
	opt = opt_find(tables, err->text + 2, len);
	if (!opt || opt->once || strlist_has(given, opt->name) || !find_usable(opt) ||
	    settings_path(&path, NULL) < 0)
		return;
	defaults_name_setting(err, code, opt->name);
	(void)error_prefix(err, code, "'%s'", path);
	(void)error_hint(err, code, CHANGE_IT);
}

void defaults_tables(const struct command *const *list, const struct opt *ret_tables[3])
{
	while (*list && strcmp((*list)->name, "start") != 0)
		list++;
	ret_tables[0] = command_global_options;
	ret_tables[1] = *list ? command_options(*list) : NULL;
	ret_tables[2] = NULL;
}
