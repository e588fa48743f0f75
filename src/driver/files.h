/*
 * The files of a node, for the host: a part of a driver's contract.
 *
 * A PATH is absolute, as in the node, and below /etc or /var, which a node keeps while it does not
 * run.  All functions work on a node that runs, is frozen or is stopped; a driver that cannot do
 * one of them returns -ENOTSUP.
 *
 * A node's root may have put anything anywhere, at any time.  Whatever that is,
 *  - nothing outside of the node is read or written: links are not followed (-ELOOP), unless a
 *    function says so, and then they do not leave the node;
 *  - nobody is kept waiting: what is neither a file nor a directory is not opened (-EINVAL);
 *  - no more memory is used than the caller's limit allows.
 *
 * What is written belongs to the node's root.  Directories above a file that is written are made
 * with mode 0755.
 */
#pragma once

#include <sys/types.h>
#include <time.h>

#include "base/error.h"
#include "base/process.h"
#include "base/strbuf.h"
#include "base/strlist.h"
#include "base/tail.h"

struct node_spec;

enum node_read_flags {
	NODE_READ_LINKS = 1 << 0, /* follow links, which stay in the node */
};

struct node_file_info {
	bool is_directory;
	uint64_t size_bytes;
	struct timespec changed;
};

struct node_files {
	/* Names in NODE's directory on the host of what the driver keeps there to find out what is
	 * wrong with a node; ends with NULL. */
	const char *const *host_logs;

	/* Have this process, and no other, be able to read the files of a node that does not run.
	 * For processes that only read: start() and create() no longer work in them. */
	int (*show)(const struct node_spec *spec, struct error *err);

	/* Add what the node's agent last said of its services to RET; see agent/agent.c.  Needs no
	 * root.  The node's root can make it say anything, but not more than 64 KiB. */
	int (*read_state)(const struct node_spec *spec, struct strbuf *ret, struct error *err);

	/* What PATH is; -ENOENT if there is nothing. */
	int (*look)(const struct node_spec *spec, const char *path, struct node_file_info *ret,
		    struct error *err);

	/* Add the names in the directory PATH without those that begin with a dot, sorted, to RET.
	 * Of more than MOST names only so many are added, and 1 is returned. */
	int (*list)(const struct node_spec *spec, const char *path, size_t most,
		    struct strlist *ret, struct error *err);

	/* Add the file PATH to RET; -ENOENT if there is none, -EFBIG if it is longer than LIMIT. */
	int (*read)(const struct node_spec *spec, const char *path, unsigned flags, size_t limit,
		    struct strbuf *ret, struct error *err);

	/* Add the end of the file PATH, at most MOST bytes, to RET; TAIL is for read_more(). */
	int (*read_end)(const struct node_spec *spec, const char *path, size_t most,
			struct tail *tail, struct strbuf *ret, struct error *err);

	/* Add what has come since TAIL was set, at most MOST bytes, to RET, also if the file was
	 * rotated; nothing is no error. */
	int (*read_more)(const struct node_spec *spec, const char *path, size_t most,
			 struct tail *tail, struct strbuf *ret, struct error *err);

	/* Make the file PATH hold LEN bytes of DATA, with MODE, in one step: whatever had that name
	 * is replaced and never written to. */
	int (*put)(const struct node_spec *spec, const char *path, const void *data, size_t len,
		   mode_t mode, struct error *err);

	/* Make the link PATH to TARGET unless there is something. */
	int (*link)(const struct node_spec *spec, const char *target, const char *path,
		    struct error *err);

	/* Make the directory PATH and those above it; just what is missing gets MODE. */
	int (*make_directory)(const struct node_spec *spec, const char *path, mode_t mode,
			      struct error *err);

	/* Name the file FROM, -ENOENT if there is none, TO, in one step. */
	int (*rename)(const struct node_spec *spec, const char *from, const char *to,
		      struct error *err);

	/* Remove the file, link or empty directory PATH; none is no error. */
	int (*remove)(const struct node_spec *spec, const char *path, struct error *err);

	/*
	 * Run ARGV, a program of this host, on the node's files: FLAG ("--rootfs=") and a directory
	 * that has its etc and var become the first argument.  The program can write nowhere else,
	 * and ends with the caller.  OPTIONS' directory is not used.
	 */
	int (*spawn)(const struct node_spec *spec, const char *flag, char *const *argv,
		     const struct process_options *options, struct process *ret_process,
		     struct error *err);
};
