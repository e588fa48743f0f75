/*
 * The user's own defaults: words by key, in the file config.json of path_user().  Root reads and
 * writes it with the user's rights.
 *
 * The file is one flat object, {"profile": "dev", "memory": "4g"}.  A file that can't be
 * understood is never changed: -EBADMSG with reason_host_config, ERR naming the file and
 * the place in it.
 */
#pragma once

#include "base/error.h"

#define SETTING_PROFILE "profile" /* the active profile: what -p is when it is not given */

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

/* The file's path, whether it is there or not. */
int settings_path(char **ret_path, struct error *err);

/* Read TEXT; numbers, true and false count as the words that they are written with. */
int settings_parse(const char *text, size_t len, struct settings *ret, struct error *err);

/* TEXT of SETTINGS as settings_parse() reads it, for the caller to free. */
char *settings_print(const struct settings *settings) must_check;

/* Read the file; a missing one has no settings. */
int settings_load(struct settings *ret, struct error *err);

/* The value of KEY, or NULL. */
const char *settings_get(const struct settings *settings, const char *key);

void settings_set(struct settings *settings, const char *key, const char *value);

/* Whether KEY was there. */
bool settings_unset(struct settings *settings, const char *key);

/* Replace the file, in one step; it is the user's own. */
int settings_save(const struct settings *settings, struct error *err);

/* Set KEY to VALUE in the file, or unset it if VALUE is NULL; two of us at once do not lose what
 * the other did.  Returns whether something had to be changed. */
int settings_change(const char *key, const char *value, struct error *err);

void settings_release(struct settings *settings);
