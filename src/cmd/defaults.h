/*
 * The person's settings as defaults of options.
 *
 * What is wrong with them is kept for later: help must work all the same, and so must the commands
 * that mend them.
 */
#pragma once

#include "cmd/command.h"

/* Read the settings. */
void defaults_load(void);

/* The active profile: the cluster that commands work on unless they are told otherwise. */
const char *defaults_profile(void);

/* Whether a command without -p would work on another cluster than PROFILE_NAME; sudo may drop the
 * environment. */
bool defaults_must_name(const char *profile_name);

/* Set what TABLE (may be NULL) names, and GIVEN does not, from the settings.  Those about a cluster
 * that is made are left out if PROFILE_NAME (may be NULL) exists. */
void defaults_take(const struct opt *table, const char *profile_name, const struct strlist *given);

/* -EINVAL with reason_host_config if something was wrong. */
int defaults_check(struct error *err);

/* The options of which settings can hold defaults, unless they are `once`: those of every command,
 * and those of LIST's `start`.  Ended by NULL. */
void defaults_tables(const struct command *const *list, const struct opt *ret_tables[3]);
