/*
 * Access to files in a directory that another user, such as a node's root, can write to.  Symbolic
 * links placed there never lead outside of the directory.
 */
#pragma once

#include <sys/types.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "base/strlist.h"

/*
 * Open the file PATH in DIR for reading, or the directory PATH if FLAGS has O_DIRECTORY.  Follows
 * no symbolic links and never leaves DIR.  Returns -ELOOP for a link, -EINVAL if PATH is neither a
 * regular file nor a directory.
 */
int below_open(const char *dir, const char *path, int flags, int *ret_fd, struct error *err);

/*
 * Find the file PATH as a process with the root directory DIR would: links are followed, and
 * absolute ones start at DIR.  RET_PATH is valid as long as RET_FD is open; the caller frees it.
 */
int below_find(const char *dir, const char *path, int *ret_fd, char **ret_path, struct error *err);

/*
 * Open the absolute PATH of this host with O_PATH, following only links that can be trusted.
 * Returns -ELOOP for a link in or below a directory of WRITABLE, which nodes can write to, and
 * -EXDEV for a link owned by a user other than root, unless that user also owns the link's target.
 */
int below_follow(const char *path, const struct strlist *writable, int *ret_fd, struct error *err);

/* Add the names in the directory PATH, opened as by below_open(), to RET and sort RET. */
int below_list(const char *dir, const char *path, struct strlist *ret, struct error *err);

/* Read the file PATH, opened as by below_open(), like file_read(). */
int below_read(const char *dir, const char *path, size_t limit, struct strbuf *buf,
	       struct error *err);

/*
 * Make the directory PATH in DIR and its parents, following no links.  Only directories that are
 * made get MODE.  RET_FD may be NULL.  Returns -ENOTDIR if a component is not a directory.
 */
int below_make_dir(const char *dir, const char *path, mode_t mode, int *ret_fd, struct error *err);

/* Open the parent directory of PATH in DIR, making it if needed.  RET_NAME points to PATH's last
 * component. */
int below_open_parent(const char *dir, const char *path, int *ret_fd, const char **ret_name,
		      struct error *err);

/* Write DATA to the file PATH in DIR like file_put(), making missing parent directories. */
int below_put(const char *dir, const char *path, const void *data, size_t len, mode_t mode,
	      struct error *err);

/*
 * Like below_list(), but add at most MOST names.  Returns 1 if the directory has more.  This bounds
 * memory when the directory was filled on purpose.
 */
int below_list_most(const char *dir, const char *path, size_t most, struct strlist *ret,
		    struct error *err);
