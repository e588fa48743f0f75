/*
 * What a person chooses for a cluster with options of `start`: checked, taken into the
 * profile, and on an existing cluster compared with what it was made with.
 */
#pragma once

#include "record/options.h"
#include "record/profile.h"

/* -EINVAL with reason_usage for the first choice of OPTIONS that makes no sense, named by its
 * option. */
int choices_check(const struct cluster_options *options, struct error *err);

/* The same for one WORD of SETTING, given at PLACE. */
int choices_check_word(const struct setting *setting, enum setting_place place, const char *word,
		       struct error *err);

/* Take the choices of OPTIONS into PROFILE, which is of a new cluster and empty. */
void choices_take_new(const struct cluster_options *options, struct profile *profile);

/*
 * Take the choices of OPTIONS into PROFILE, of a cluster that exists: -EINVAL with reason_usage for
 * one that can't be changed any more; some can at any time, such as --ports.  Lists never lose a
 * word that way, unless a new one takes its place: what they have stays, and the rest is added.
 */
int choices_take(const struct cluster_options *options, struct profile *profile, struct error *err);

/* Add to RET_SENTENCES what the choices of a cluster become: they were BEFORE and are AFTER. */
void choices_describe(const struct profile *before, const struct profile *after,
		      struct strlist *ret_sentences);
