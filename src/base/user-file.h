/*
 * A new file of the user, made by root with the user's rights.
 *
 * It has no name until it is complete, where the file system supports that, so nothing is left if
 * this process is killed.  An existing file of the same name is replaced.
 */
#pragma once

#include <sys/types.h>

#include "base/error.h"

struct user_file {
	const char *path; /* as the user wrote it */
	int dir;          /* the directory that the path leads to */
	char *name;       /* the final name in it */
	char *temp;       /* the temporary name in it */
	int fd;           /* open for writing */
	bool named;       /* whether the file has its temporary name already */
};

#define USER_FILE_INIT ((struct user_file){ .dir = -1, .fd = -1 })

/* Make the file PATH with MODE.  With reason_usage: -ELOOP if PATH is a link of another user or
 * leads to one through links, or an error of file_check_replaceable(), if it is a device or the
 * like. */
int user_file_create(const char *path, mode_t mode, struct user_file *ret, struct error *err);

/* If R, the result of writing the file, is a success, give the file its final name; else remove it.
 * Returns R unless renaming fails. */
int user_file_settle(struct user_file *file, int r, struct error *err);

void user_file_release(struct user_file *file);
