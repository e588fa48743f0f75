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

/* The same for one WORD of what is chosen with --OPTION. */
int choices_check_word(const char *option, const char *word, struct error *err);

/* -ERANGE if a node can't live with a disk of so many bytes; 0 is none. */
int choices_check_disk(uint64_t bytes, struct error *err);

/* Whether what is chosen with --OPTION may change on a cluster that exists. */
bool choices_may_change(const char *option);

/*
 * Take the choices of OPTIONS into PROFILE.  Unless it IS_NEW, -EINVAL with reason_usage for one
 * that can't be changed any more; some can at any time, such as --ports.  Lists never lose a word
 * that way, unless a new one takes its place: what they have stays, and the rest is added.
 */
int choices_take(const struct cluster_options *options, struct profile *profile, bool is_new,
		 struct error *err);

/* Add to RET_SENTENCES what the choices of a cluster become: they were BEFORE and are AFTER. */
void choices_describe(const struct profile *before, const struct profile *after,
		      struct strlist *ret_sentences);
