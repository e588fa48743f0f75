/* Whole files, directories and locks. */
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "base/strlist.h"

/* Add what FD gives until its end to BUF; -EFBIG if that is more than LIMIT bytes. */
int file_read_fd(int fd, size_t limit, struct strbuf *buf, struct error *err);

/* Read the file PATH, at most LIMIT bytes, into BUF; -ENOENT if there is none, -EINVAL if it is a
 * pipe, which is not waited for. */
int file_read(const char *path, size_t limit, struct strbuf *buf, struct error *err);

/* Write all of DATA to FD, or return a negative errno. */
int file_write_all(int fd, const void *data, size_t len);

/* -EINVAL if PATH is a device, a pipe or a socket: a file must not be put in its place. */
int file_check_replaceable(const char *path, struct error *err);

/* Make PATH hold just DATA, in one step and durably, with MODE; readers see the old or the new
 * file, never half. */
int file_replace(const char *path, const void *data, size_t len, mode_t mode, struct error *err);

/* Like file_replace() without waiting for the disk: for what can be made again. */
int file_put(const char *path, const void *data, size_t len, mode_t mode, struct error *err);

/*
 * Likewise NAME in the opened DIR, which errors call SHOWN; with DURABLE the file's contents,
 * not its name, are on the disk afterwards.  Whatever has this name, or NAME.new, is replaced and
 * never written to or followed, so DIR may be one that somebody else writes to.
 */
int file_put_at(int dir, const char *name, const char *shown, const void *data, size_t len,
		mode_t mode, bool durable, struct error *err);

/* Write TEXT into the existing file PATH in one write() call, as the kernel's control files want
 * it. */
int file_poke(const char *path, const char *text, struct error *err);

/* Copy the file FROM to TO (which is replaced, never written to), sharing blocks where the file
 * system can; keeps the mode. */
int file_copy(const char *from, const char *to, struct error *err);

bool file_exists(const char *path);

/* Make the directory PATH and those above it; succeeds if it is there. */
int file_make_dirs(const char *path, mode_t mode, struct error *err);

/*
 * Remove PATH and everything below it, however deep, with few descriptors; succeeds if it is
 * missing.  Follows no links and never crosses into another mount, so one left behind keeps its
 * contents: -EBUSY.
 */
int file_remove_tree(const char *path, struct error *err);

/* Likewise NAME in the opened DIR. */
int file_remove_tree_at(int dir, const char *name, struct error *err);

/* Whether to copy the file NAME with the status ST instead of linking it. */
typedef bool file_choice(const char *name, const struct stat *st);

/*
 * Make TO a copy of the tree FROM in which every file is a hard link to the original,
 * except those for which COPY_IT (may be NULL) says true: they are copied.
 * Falls back to copying where links can't be made.  Copies have the owners of the originals.
 * TO may be there already; -ENOTDIR or -ELOOP for something else than a directory.
 */
int file_link_tree(const char *from, const char *to, file_choice *copy_it, struct error *err);

/* Likewise in opened directories; links in TO lead nowhere. */
int file_link_tree_at(int from_parent, const char *from, int to_parent, const char *to,
		      file_choice *copy_it, struct error *err);

/* How many levels of a tree are open at once. */
#define FILE_TREE_LEVELS 128u

/* Disk blocks used in the first FILE_TREE_LEVELS below PATH in bytes, counting a file with several
 * names only with `linked`. */
uint64_t file_tree_bytes(const char *path, bool linked);

/*
 * Take the lock PATH, which is created if it is missing, and write our pid and WHAT into it for
 * others to name. -EWOULDBLOCK if somebody holds it (ERR names the holder).  The lock ends with the
 * descriptor.  Whoever can open the file can hold the lock, and others may read it, so it belongs
 * in a directory that only its users can enter.
 */
int file_lock(const char *path, const char *what, int *ret_fd, struct error *err);

/* Like file_lock(), where others can enter the directory: only we and root can open the file.
 * Waits for the holder to end, at most WAIT_MS (-1: for ever). */
int file_lock_private(const char *path, const char *what, int64_t wait_ms, int *ret_fd,
		      struct error *err);

/* Lock the opened file or directory FD, which errors call SHOWN, waiting likewise: for one that is
 * there anyway. */
int file_lock_fd(int fd, const char *shown, int64_t wait_ms, struct error *err);

/* How long to wait for who changes a file that users share. */
#define FILE_LOCK_MS 10000

/* The pid of the process that holds the lock PATH; 0 if nobody does. */
pid_t file_lock_holder(const char *path);
