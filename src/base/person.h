/*
 * Acting as the user who called sudo.
 *
 * What root writes into a user's own directories is written with that user's rights, so that links
 * there lead root nowhere that the user could not go.  Where nobody called sudo, the user is who we
 * are, and these functions change nothing.
 */
#pragma once

#include <sys/types.h>

#include "base/error.h"

/* The user's ids, with all groups. */
struct person {
	uid_t uid;
	gid_t gid;
	gid_t *groups;
	size_t group_count;
	gid_t *own_groups; /* our own, to return to */
	size_t own_count;
	bool is_other; /* somebody else than we are */
};

#define PERSON_INIT ((struct person){ 0 })

void person_find(struct person *ret);
void person_release(struct person *person);

/*
 * From here to person_end(), files are opened, made and removed with the rights of PERSON; all else
 * that root may do stays.  Programs started meanwhile are root's.
 */
int person_begin(const struct person *person, struct error *err);
void person_end(const struct person *person);

/* Become PERSON for good, between fork and exec; -1 with errno. */
int person_become(const struct person *person);
