/*
 * The user on whose behalf root works: see path_person_uid().
 *
 * What is the user's (~/.manykube, ~/.kube/config) is read and written with the user's rights, so
 * that links and directories of theirs lead root nowhere that they could not go themselves:
 *
 *	cleanup_with(user_leave) struct user_rights rights = USER_RIGHTS_INIT;
 *
 *	r = user_enter(&rights, err);
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

/* Who the user is, with all groups. */
struct user {
	uid_t uid;
	gid_t gid;
	gid_t *groups;
	size_t group_count;
	bool is_other; /* somebody else than we are */
};

#define USER_INIT ((struct user){ 0 })

void user_find(struct user *ret);

/* The user UID; one that the host does not know has the group of the same number. */
void user_find_by_uid(uid_t uid, struct user *ret);

bool user_is_in(const struct user *user, gid_t gid);
void user_release(struct user *user);

/* Become USER for good, between fork and exec; -1 with errno. Does nothing when we are the user. */
int user_become(const struct user *user);

struct user_rights {
	bool active;   /* the file system sees the user */
	gid_t *groups; /* our own, to return to */
	int group_count;
	int dumpable;
};

#define USER_RIGHTS_INIT ((struct user_rights){ 0 })

/* Have the user's rights on files until user_leave().  Does nothing when we are the user, or have
 * them already. */
int user_enter(struct user_rights *ret, struct error *err);

/* End what user_enter() began; does nothing after one that failed. */
void user_leave(struct user_rights *rights);

/* Make the directory PATH and those above it that are missing, all of them the user's. */
int user_make_directory(const char *path, struct error *err);

/*
 * Let the user read PATH, a file or directory of root's in a directory of root's, and nobody else:
 * an entry in its access control list, or where the file system has none, the user's group if only
 * they are in it.  Without that it stays root's alone.  Does nothing when we are the user.
 */
int user_may_read(const char *path, struct error *err);
