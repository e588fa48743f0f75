/*
 * The user on whose behalf root works: see path_person_uid().
 *
 * Files of the user (~/.manykube, ~/.kube/config) are read and written with the user's rights, so
 * that links made by the user cannot lead root to files that the user has no access to:
 *
 *	cleanup_with(user_leave) struct user_rights rights = USER_RIGHTS_INIT;
 *
 *	r = user_enter(&rights, err);
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

/* A user with all groups. */
struct user {
	uid_t uid;
	gid_t gid;
	gid_t *groups;
	size_t group_count;
	bool is_other; /* not the user who runs this process */
};

#define USER_INIT ((struct user){ 0 })

/* The user on whose behalf we work. */
void user_find(struct user *ret);

/* The user UID.  A uid without an entry in the user database gets the group of the same number. */
void user_find_by_uid(uid_t uid, struct user *ret);

bool user_is_in(const struct user *user, gid_t gid);
void user_release(struct user *user);

/* Become USER permanently, between fork and exec; returns -1 and sets errno on failure.  Does
 * nothing if we already are that user. */
int user_become(const struct user *user);

struct user_rights {
	bool active;   /* file access is checked against the user */
	gid_t *groups; /* our own groups, for user_leave() to restore */
	int group_count;
	int dumpable;
};

#define USER_RIGHTS_INIT ((struct user_rights){ 0 })

/* Access files with the user's rights until user_leave().  Does nothing if we are the user or
 * already have the user's rights. */
int user_enter(struct user_rights *ret, struct error *err);

/* Undo user_enter(); does nothing if that failed or did nothing. */
void user_leave(struct user_rights *rights);

/*
 * Open the file PATH, which the user named, for reading with the user's rights.  Waits for the
 * writer of a pipe, such as that of <(...), unless FLAGS contain O_NONBLOCK.  /dev/stdin is
 * standard input, even if the user could not open that file.
 */
int user_open(const char *path, int flags, int *ret_fd, struct error *err);

/* Make the directory PATH and its missing parents, owned by the user. */
int user_make_directory(const char *path, struct error *err);

/*
 * Let the user, and nobody else, read PATH, a file or directory owned by root in a directory owned
 * by root.  This adds an entry to PATH's access control list.  On file systems without such lists,
 * PATH is given to the user's private group; if there is none, only root can read PATH.  Does
 * nothing if we are the user.
 */
int user_may_read(const char *path, struct error *err);
