/*
 * The user's settings as defaults of options.
 *
 * Errors in them are kept for later: help must work anyway, and so must the commands that correct
 * them.
 */
#pragma once

#include "cmd/command.h"

/* Read the settings. */
void defaults_load(void);

/* The active profile: the cluster that commands use by default. */
const char *defaults_profile(void);

/* Whether a command without -p would use another cluster than PROFILE_NAME; sudo may drop the
 * environment. */
bool defaults_must_name(const char *profile_name);

/* Whether the cluster NAME exists, so that defaults of new clusters do not apply. */
bool defaults_cluster_exists(const char *name);

/* Whether the setting VALUE of OPT would let root do for the user what that user may not do.  Every
 * program of the user can change the settings, so root does not use it. */
bool defaults_are_beyond_user(const struct opt *opt, const char *value);

/* Set what TABLE (may be NULL) names, and GIVEN does not, from the settings. Settings of new
 * clusters are skipped if PROFILE_NAME (may be NULL) exists. */
void defaults_take(const struct opt *table, const char *profile_name, const struct strlist *given);

/* Warn of settings that were not used; -EINVAL with reason_host_config if an error was found. */
int defaults_check(struct error *err);

/* Make ERR, which is about the option KEY, about the setting KEY. */
void defaults_name_setting(struct error *err, int code, const char *key);

/* If ERR is about an option of TABLE that is not in GIVEN, but has its value from the settings,
 * name the setting and how to change it. */
void defaults_explain(const struct opt *table, const struct strlist *given, int code,
		      struct error *err);

/* The options whose defaults can be settings, unless they are `once`: those of every command, and
 * those of LIST's `start`. Ended by NULL. */
void defaults_tables(const struct command *const *list, const struct opt *ret_tables[3]);
