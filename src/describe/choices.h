/* The settings that a user gives with options of `start`: checking them, storing them in the
 * profile and, for an existing cluster, comparing them with its settings. */
#pragma once

#include "record/options.h"
#include "record/profile.h"

/* -EINVAL with reason_usage for the first invalid value in OPTIONS, naming its option. */
int choices_check(const struct cluster_options *options, struct error *err);

/* The same for one WORD of SETTING, given at PLACE. */
int choices_check_word(const struct setting *setting, enum setting_place place, const char *word,
		       struct error *err);

/* Store the settings of OPTIONS in PROFILE, the empty profile of a new cluster. */
void choices_take_new(const struct cluster_options *options, struct profile *profile);

/*
 * Store the settings of OPTIONS in PROFILE, that of an existing cluster: -EINVAL with reason_usage
 * for a setting that cannot be changed any more; some can at any time, such as --ports.  Words are
 * only added to lists; one is removed only if a new word excludes it.
 */
int choices_take(const struct cluster_options *options, struct profile *profile, struct error *err);

/* Append a sentence for each difference between the settings BEFORE and AFTER to RET_SENTENCES. */
void choices_describe(const struct profile *before, const struct profile *after,
		      struct strlist *ret_sentences);
