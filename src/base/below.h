/*
 * Files in a directory that somebody else may write to, a node's root above all: links that they
 * made lead nowhere else.
 */
#pragma once

#include <sys/types.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "base/strlist.h"

/*
 * Open the file PATH in DIR for reading (with O_DIRECTORY in FLAGS: the directory), following no
 * links and never leaving DIR: for what somebody else may write to.  -ELOOP for a link, -EINVAL
 * for what is neither a file nor a directory.
 */
int below_open(const char *dir, const char *path, int flags, int *ret_fd, struct error *err);

/*
 * Find the file PATH as a process would whose root is DIR: links, also absolute ones, stay in
 * it. RET_PATH, for the caller to free, names it as long as RET_FD is open.
 */
int below_find(const char *dir, const char *path, int *ret_fd, char **ret_path, struct error *err);

/*
 * Open the file or directory PATH (absolute; O_PATH) of this host, following links, but only as far
 * as nobody else can have made them: none below a directory of WRITABLE, to which somebody else
 * writes, and none of a user other than root unless that user owns what is opened.  -ELOOP and
 * -EXDEV for such links.
 */
int below_follow(const char *path, const struct strlist *writable, int *ret_fd, struct error *err);

/* Add the names in the directory PATH of DIR, opened likewise, to RET, sorted. */
int below_list(const char *dir, const char *path, struct strlist *ret, struct error *err);

/* Read the file PATH in DIR, opened likewise, as file_read() does. */
int below_read(const char *dir, const char *path, size_t limit, struct strbuf *buf,
	       struct error *err);

/*
 * Make the directory PATH in DIR and those between them, following no links; RET_FD may be NULL.
 * Just what is missing gets MODE; -ENOTDIR if something else than a directory is in the way.
 */
int below_make_dir(const char *dir, const char *path, mode_t mode, int *ret_fd, struct error *err);

/* Open the directory that PATH in DIR is in, made if missing; RET_NAME is PATH's last part. */
int below_open_parent(const char *dir, const char *path, int *ret_fd, const char **ret_name,
		      struct error *err);

/* Make the file PATH in DIR hold DATA, as file_put() does, and the directories above it. */
int below_put(const char *dir, const char *path, const void *data, size_t len, mode_t mode,
	      struct error *err);

/* Like below_list(), but of a directory with more than MOST names only some, so many, and 1: it may
 * have been filled for us to run out of memory. */
int below_list_most(const char *dir, const char *path, size_t most, struct strlist *ret,
		    struct error *err);
