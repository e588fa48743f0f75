/*
 * The user's own defaults: strings by key, in the file config.json in path_user().  Root reads and
 * writes it with the user's rights.
 *
 * The file is one flat object, {"profile": "dev", "memory": "4g"}.  A file that cannot be parsed is
 * never changed: -EBADMSG with reason_host_config, and ERR names the file and the position.
 */
#pragma once

#include "base/error.h"

#define SETTING_PROFILE "profile" /* the active profile: the default of -p */

struct settings_item {
	char *key;
	char *value;
};

/* In the order of the file. */
struct settings {
	struct settings_item *items;
	size_t count;
};

#define SETTINGS_INIT ((struct settings){ NULL })

/* The path of the file, which may not exist. */
int settings_path(char **ret_path, struct error *err);

/* Parse TEXT; numbers, true and false become strings. */
int settings_parse(const char *text, size_t len, struct settings *ret, struct error *err);

/* SETTINGS as JSON for settings_parse(); the caller frees it. */
char *settings_print(const struct settings *settings) must_check;

/* Read the file; a missing file means no settings. */
int settings_load(struct settings *ret, struct error *err);

/* The value of KEY, or NULL. */
const char *settings_get(const struct settings *settings, const char *key);

void settings_set(struct settings *settings, const char *key, const char *value);

/* Remove KEY; returns whether it was set. */
bool settings_unset(struct settings *settings, const char *key);

/* Replace the file atomically; it is owned by the user. */
int settings_save(const struct settings *settings, struct error *err);

/* Set KEY to VALUE in the file, or unset KEY if VALUE is NULL.  The file is locked, so concurrent
 * changes are not lost.  Returns 1 if the file changed, else 0. */
int settings_change(const char *key, const char *value, struct error *err);

void settings_release(struct settings *settings);
