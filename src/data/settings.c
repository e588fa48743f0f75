/* The user's own defaults: strings by key. */

#include "data/settings.h"

#include <fcntl.h>
#include <jansson.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "base/user.h"
#include "data/json-text.h"

#define SETTINGS_LIMIT (1 << 20)

int settings_path(char **ret_path, struct error *err)
{
	cleanup_free char *directory = NULL;
	int r = path_user(&directory, err);

	if (r == 0)
		*ret_path = xasprintf("%s/config.json", directory);
	return r;
}

static struct settings_item *find_setting(const struct settings *settings, const char *key)
{
	for (size_t i = 0; i < settings->count; i++)
		if (strcmp(settings->items[i].key, key) == 0)
			return &settings->items[i];
	return NULL;
}

static int read_all(json_t *root, struct settings *settings, struct error *err)
{
	const char *key;
	json_t *value;

	if (!json_is_object(root))
		return error_set(err, -EBADMSG, "line 1: not a JSON object");
	json_object_foreach(root, key, value) {
		cleanup_free char *word = NULL;

		if (json_is_string(value))
			word = xstrdup(json_string_value(value));
		else if (json_is_number(value) || json_is_boolean(value))
			word = json_dumps(value, JSON_ENCODE_ANY);
		if (!word)
			return error_set(err, -EBADMSG,
					 "'%s' must be a string, a number or a boolean", key);
		settings_set(settings, key, word);
	}
	return 0;
}

int settings_parse(const char *text, size_t len, struct settings *ret, struct error *err)
{
	cleanup_with(settings_release) struct settings settings = SETTINGS_INIT;
	json_auto_t *root = NULL;
	int r;

	r = json_text_parse(text, len, &root, err);
	if (r == 0)
		r = read_all(root, &settings, err);
	if (r < 0)
		return r;
	*ret = settings;
	settings = SETTINGS_INIT;
	return 0;
}

char *settings_print(const struct settings *settings)
{
	json_auto_t *root = json_object();
	cleanup_free char *text = NULL;

	for (size_t i = 0; i < settings->count; i++)
		json_object_set_new(root, settings->items[i].key,
				    json_string(settings->items[i].value));
	text = json_dumps(root, JSON_INDENT(4));
	if (!text)
		abort();
	return xasprintf("%s\n", text);
}

int settings_load(struct settings *ret, struct error *err)
{
	cleanup_with(user_leave) struct user_rights rights = USER_RIGHTS_INIT;
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_free char *path = NULL;
	int r = settings_path(&path, err);

	if (r == 0)
		r = user_enter(&rights, err);
	if (r < 0)
		return r;
	r = file_read(path, SETTINGS_LIMIT, &text, NULL);
	if (r == -ENOENT) {
		*ret = SETTINGS_INIT;
		return 0;
	}
	if (r < 0) {
		error_because(err, &reason_host_config, r, "cannot read '%s': %s", path,
			      strerror(-r));
		return error_hint(err, r,
				  "fix the file, or remove it to continue without settings");
	}
	r = settings_parse(text.text, text.len, ret, err);
	if (r < 0) {
		error_prefix(err, r, "'%s' is damaged", path);
		error_reason(err, r, &reason_host_config);
		return error_hint(err, r, "fix or remove the file; it was not changed");
	}
	return 0;
}

const char *settings_get(const struct settings *settings, const char *key)
{
	const struct settings_item *setting = find_setting(settings, key);

	return setting ? setting->value : NULL;
}

void settings_set(struct settings *settings, const char *key, const char *value)
{
	struct settings_item *setting = find_setting(settings, key);
	char *copy = xstrdup(value);

	if (setting) {
		free(setting->value);
		setting->value = copy;
		return;
	}
	settings->items = xrealloc(settings->items, settings->count + 1, sizeof(*settings->items));
	settings->items[settings->count++] = (struct settings_item){ xstrdup(key), copy };
}

bool settings_unset(struct settings *settings, const char *key)
{
	struct settings_item *setting = find_setting(settings, key);
	size_t behind;

	if (!setting)
		return false;
	free(setting->key);
	free(setting->value);
	behind = (size_t)(settings->items + settings->count - (setting + 1));
	memmove(setting, setting + 1, behind * sizeof(*setting));
	settings->count--;
	return true;
}

/* Take the user's rights and return the directory of the file, making it if needed. */
static int enter_directory(struct user_rights *rights, char **ret_path, struct error *err)
{
	cleanup_free char *directory = NULL;
	int r = path_user(&directory, err);

	if (r == 0)
		r = user_make_directory(directory, err);
	if (r == 0)
		r = user_enter(rights, err);
	if (r == 0)
		*ret_path = take_ptr(directory);
	return r < 0 ? error_reason(err, r, &reason_host_config) : 0;
}

int settings_save(const struct settings *settings, struct error *err)
{
	cleanup_with(user_leave) struct user_rights rights = USER_RIGHTS_INIT;
	cleanup_free char *text = settings_print(settings);
	cleanup_free char *directory = NULL;
	cleanup_free char *path = NULL;
	int r = enter_directory(&rights, &directory, err);

	if (r == 0)
		r = settings_path(&path, err);
	if (r == 0)
		/* Environment variables of nodes may hold secrets. */
		r = file_replace(path, text, strlen(text), strstr(text, "\"env\"") ? 0600 : 0644,
				 err);
	return r < 0 ? error_reason(err, r, &reason_host_config) : 0;
}

/* Lock DIRECTORY, so that two processes do not change the file at once. */
static int lock(const char *directory, int *ret_fd, struct error *err)
{
	cleanup_fd int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int r;

	if (fd < 0)
		return error_sys(err, "cannot open the directory '%s'", directory);
	r = file_lock_or_warn(fd, directory, FILE_LOCK_MS, err);
	if (r < 0)
		return error_prefix(err, r, "cannot change '%s'", directory);
	*ret_fd = take_fd(fd);
	return 0;
}

int settings_change(const char *key, const char *value, struct error *err)
{
	cleanup_with(user_leave) struct user_rights rights = USER_RIGHTS_INIT;
	cleanup_with(settings_release) struct settings settings = SETTINGS_INIT;
	cleanup_free char *directory = NULL;
	cleanup_free char *path = NULL;
	cleanup_fd int held = -1;
	const char *before;
	int r = settings_path(&path, err);

	if (r < 0)
		return r;
	if (!value && !file_exists(path))
		return 0;
	r = enter_directory(&rights, &directory, err);
	if (r == 0)
		r = lock(directory, &held, err);
	if (r < 0)
		return error_reason(err, r, &reason_host_config);
	r = settings_load(&settings, err);
	if (r < 0)
		return r;
	before = settings_get(&settings, key);
	if (value ? before && strcmp(before, value) == 0 : !before)
		return 0;
	if (value)
		settings_set(&settings, key, value);
	else
		settings_unset(&settings, key);
	r = settings_save(&settings, err);
	return r < 0 ? r : 1;
}

void settings_release(struct settings *settings)
{
	for (size_t i = 0; i < settings->count; i++) {
		free(settings->items[i].key);
		free(settings->items[i].value);
	}
	free(settings->items);
	*settings = SETTINGS_INIT;
}
