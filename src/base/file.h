/* Whole files, directories and locks. */
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "base/strlist.h"

/* Append everything up to the end of FD to BUF; -EFBIG if that is more than LIMIT bytes. */
int file_read_fd(int fd, size_t limit, struct strbuf *buf, struct error *err);

/* Append the file PATH to BUF; -EFBIG if it is larger than LIMIT bytes, -ENOENT if it is missing,
 * -EINVAL if it is a FIFO.  Never blocks on a FIFO. */
int file_read(const char *path, size_t limit, struct strbuf *buf, struct error *err);

/* Write all of DATA to FD, or return a negative errno. */
int file_write_all(int fd, const void *data, size_t len);

/* -EINVAL if PATH is a device, a FIFO or a socket, which must not be replaced by a file. */
int file_check_replaceable(const char *path, struct error *err);

/* Replace the contents of PATH with DATA, atomically and durably; the file gets MODE. */
int file_replace(const char *path, const void *data, size_t len, mode_t mode, struct error *err);

/* Like file_replace(), but without fsync(): for files that can be generated again. */
int file_put(const char *path, const void *data, size_t len, mode_t mode, struct error *err);

/*
 * Like file_put() for NAME in the open directory DIR; errors call the file SHOWN.  If DURABLE, the
 * contents are synced, but not the directory.  NAME and NAME.new are replaced, never followed or
 * written to, so other users may have write access to DIR.
 */
int file_put_at(int dir, const char *name, const char *shown, const void *data, size_t len,
		mode_t mode, bool durable, struct error *err);

/* Write TEXT to the existing file PATH with one write(), as control files of the kernel require. */
int file_poke(const char *path, const char *text, struct error *err);

/* Copy the file FROM to TO, keeping the mode and sharing blocks where the file system can.  An
 * existing TO is replaced, never written to. */
int file_copy(const char *from, const char *to, struct error *err);

bool file_exists(const char *path);

/* Make the directory PATH and its parents; succeeds if it exists. */
int file_make_dirs(const char *path, mode_t mode, struct error *err);

/*
 * Remove PATH and everything below it, at any depth, with a bounded number of descriptors. Succeeds
 * if PATH is missing.  Follows no links and enters no other mount: -EBUSY if there is a mount below
 * PATH, whose contents are kept.
 */
int file_remove_tree(const char *path, struct error *err);

/* The same for NAME in the open directory DIR. */
int file_remove_tree_at(int dir, const char *name, struct error *err);

/* Whether to copy the file NAME with the status ST instead of linking it. */
typedef bool file_choice(const char *name, const struct stat *st);

/*
 * Make TO a copy of the tree FROM in which files are hard links to the originals.  Files for which
 * COPY_IT (may be NULL) returns true, and files that cannot be linked, are copied with their owner
 * and mode.  TO may exist; -ENOTDIR or -ELOOP if it is not a directory.
 */
int file_link_tree(const char *from, const char *to, file_choice *copy_it, struct error *err);

/* The same in open directories.  Symbolic links in TO are not followed. */
int file_link_tree_at(int from_parent, const char *from, int to_parent, const char *to,
		      file_choice *copy_it, struct error *err);

/* The most levels of a tree that are open at the same time. */
#define FILE_TREE_LEVELS 128u

/* The disk space used by PATH and up to FILE_TREE_LEVELS levels below it, in bytes.  Files with
 * several hard links count only if LINKED. */
uint64_t file_tree_bytes(const char *path, bool linked);

/* The same of the first MOST entries, for a tree that somebody else fills. */
uint64_t file_tree_bytes_most(const char *path, bool linked, size_t most);

/*
 * Take the lock PATH, creating the file if needed, and write our pid and WHAT into it.  Returns
 * -EWOULDBLOCK, with the holder named in ERR, if another process holds it.  The lock is released
 * when the descriptor is closed.  The file is readable by all, and anybody who can open it can hold
 * the lock, so it belongs in a directory that only its users can enter.
 */
int file_lock(const char *path, const char *what, int *ret_fd, struct error *err);

/* Like file_lock() for directories that others can enter: only we and root can open the file. Waits
 * up to WAIT_MS for the holder (-1: no limit). */
int file_lock_private(const char *path, const char *what, int64_t wait_ms, int *ret_fd,
		      struct error *err);

/* Lock the open file or directory FD, which errors call SHOWN, waiting up to WAIT_MS (-1: no
 * limit). Writes nothing to it. */
int file_lock_fd(int fd, const char *shown, int64_t wait_ms, struct error *err);

/* Like file_lock_fd(), but go on with a warning if it stays locked: whoever can open a directory
 * can lock it for ever.  For files that are replaced as a whole. */
int file_lock_or_warn(int fd, const char *shown, int64_t wait_ms, struct error *err);

/* How long to wait for another process that changes a shared file. */
#define FILE_LOCK_MS 10000

/* The process that holds the lock PATH: the one that wrote its pid into the file, that the kernel
 * lists as the holder and, if we are root, that runs as the owner of the file or root, whoever else
 * has locked the file; 0 if there is none.  We need no right to read the file. */
pid_t file_lock_holder(const char *path);

/* Release the lock *FD, whose file no longer names us, and set *FD to -1; does nothing if it is -1.
 */
void file_unlock(int *fd);
