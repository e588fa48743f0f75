/*
 * Access from the host to the files of a node: a part of a driver's contract.
 *
 * PATH is an absolute path in the node, below /etc or /var, which exist also while the node does
 * not run.  All functions work on running, frozen and stopped nodes; a driver that does not support
 * a function returns -ENOTSUP.
 *
 * The node's root may change any file at any time.  Nevertheless,
 *  - nothing outside of the node is read or written: links are not followed (-ELOOP) or, where a
 *    function says so, only inside the node;
 *  - no function blocks: only regular files and directories are opened (-EINVAL);
 *  - memory use is bounded by the caller's limit.
 *
 * Written files are owned by the node's root.  Missing parent directories are made with mode 0755.
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
	NODE_READ_LINKS = 1 << 0, /* follow links inside the node */
};

struct node_file_info {
	bool is_directory;
	uint64_t size_bytes;
	struct timespec changed;
};

struct node_files {
	/* Names of the driver's diagnostic files in the node's directory on the host; ends with
	 * NULL. */
	const char *const *host_logs;

	/* Make the files of a stopped node readable for this process only.  After that, start() and
	 * create() no longer work in this process. */
	int (*show)(const struct node_spec *spec, struct error *err);

	/* Append the state of services that the node's agent wrote last to RET; see agent/agent.c.
	 * Needs no root.  The node's root can forge it; it has at most 64 KiB. */
	int (*read_state)(const struct node_spec *spec, struct strbuf *ret, struct error *err);

	/* The type, size and time of PATH; -ENOENT if it is missing. */
	int (*look)(const struct node_spec *spec, const char *path, struct node_file_info *ret,
		    struct error *err);

	/* Add the names in the directory PATH that do not begin with a dot to RET and sort RET.
	 * Adds at most MOST names and returns 1 if there are more. */
	int (*list)(const struct node_spec *spec, const char *path, size_t most,
		    struct strlist *ret, struct error *err);

	/* Append the file PATH to RET; -ENOENT if it is missing, -EFBIG if it exceeds LIMIT. */
	int (*read)(const struct node_spec *spec, const char *path, unsigned flags, size_t limit,
		    struct strbuf *ret, struct error *err);

	/* Append the last MOST bytes of the file PATH to RET and set TAIL for read_more(). */
	int (*read_end)(const struct node_spec *spec, const char *path, size_t most,
			struct tail *tail, struct strbuf *ret, struct error *err);

	/* Append up to MOST bytes that were written since TAIL was set to RET, also across a
	 * rotation.  No new bytes are no error. */
	int (*read_more)(const struct node_spec *spec, const char *path, size_t most,
			 struct tail *tail, struct strbuf *ret, struct error *err);

	/* Write LEN bytes of DATA to the file PATH with MODE, atomically.  An existing file is
	 * replaced, never written to. */
	int (*put)(const struct node_spec *spec, const char *path, const void *data, size_t len,
		   mode_t mode, struct error *err);

	/* Make the symbolic link PATH to TARGET, unless PATH exists. */
	int (*link)(const struct node_spec *spec, const char *target, const char *path,
		    struct error *err);

	/* Make the directory PATH and its parents; only directories that are made get MODE. */
	int (*make_directory)(const struct node_spec *spec, const char *path, mode_t mode,
			      struct error *err);

	/* Rename the file FROM to TO, atomically; -ENOENT if FROM is missing. */
	int (*rename)(const struct node_spec *spec, const char *from, const char *to,
		      struct error *err);

	/* Remove the file, link or empty directory PATH; succeeds if it is missing. */
	int (*remove)(const struct node_spec *spec, const char *path, struct error *err);

	/*
	 * Run ARGV, a program of the host, on the node's files.  FLAG ("--rootfs=") followed by a
	 * directory with the node's etc and var is its first argument.  The program can write only
	 * there and is killed when the caller ends.  OPTIONS' directory is ignored.
	 */
	int (*spawn)(const struct node_spec *spec, const char *flag, char *const *argv,
		     const struct process_options *options, struct process *ret_process,
		     struct error *err);
};
