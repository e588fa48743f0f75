/*
 * Namespaces: making the user namespace of a node, mapping directories into it, running programs in
 * a node.
 *
 * A node's root is not the host's root: uid 0 in the node's user namespace is a high, otherwise
 * unused uid of the host, so the kernel refuses access to anything outside of the node.  Files are
 * owned by root on disk and mapped by idmapped mounts, so all nodes can share a payload.
 */
#pragma once

#include "base/error.h"
#include "base/process.h"

/* The number of uids and gids of a node: enough for pods with their own user namespaces. */
#define NAMESPACE_IDS (128u * 65536u)

/* The first id of the host that nodes use, far above those of users.  Each slot has NAMESPACE_IDS
 * of them.  No node has slot 0; driver/mount-owner.h uses its ids. */
#define NAMESPACE_UID_FIRST 0x10000000u

/* Make a user namespace that maps 0 to NAMESPACE_IDS-1 to the host's ids from UID_BASE on. */
int namespace_new_user(uid_t uid_base, int *ret_fd, struct error *err);

/* The same with given maps in the kernel's format.  The namespace counts as made by UID_BASE. */
int namespace_new_mapped_user(uid_t uid_base, const char *uid_map, const char *gid_map, int *ret_fd,
			      struct error *err);

/*
 * Make a detached mount of PATH, a directory or file, mapped for the user namespace USERNS_FD:
 * files owned by root on disk are owned by the node's root.  The caller attaches it with
 * move_mount().
 */
int namespace_map_tree(const char *path, int userns_fd, bool read_only, int *ret_fd,
		       struct error *err);

/* The same for the open file or directory FD (O_PATH suffices), which errors call SHOWN. */
int namespace_map_opened(int fd, const char *shown, int userns_fd, bool read_only, int *ret_fd,
			 struct error *err);

/* Where to run a program: in all namespaces of process PID, as root there. */
struct namespace_target {
	pid_t pid;
	const char *cgroup; /* its control group, may be NULL */
	const char *leaf;   /* the sub-group for programs that are run this way */
};

/*
 * Start ARGV in TARGET.  OPTIONS gives its standard streams, its working directory and its
 * environment, which is minimal by default.  The program always has its own session and session
 * keyring; with new_session, a terminal as standard input becomes its controlling terminal.  It
 * gets pipes instead of our descriptors (host/relay.h), and 15 s to start.  A log file
 * in OPTIONS receives at most 16 MiB.  The returned process ends when the program has ended and its
 * output is written, with the same status; killing it kills the program.  The program is confined
 * like all programs of a node (host/confine.h).
 */
int namespace_spawn(const struct namespace_target *target, char *const *argv,
		    const struct process_options *options, struct process *ret_process,
		    struct error *err);

/* Replace our session keyring, which may hold keys of the user, with a new and empty one; returns
 * -1 and sets errno on failure. */
int namespace_new_keyring(void);

/*
 * Start WORK in a child that has entered all namespaces of PID as root, and so has no more rights
 * than the node: paths that it uses can lead anywhere in the node, but not outside.  The child
 * keeps only the COUNT descriptors FDS (negative ones are ignored), and dies with us.  Its exit
 * status is the result of WORK, 0 or a negative errno, without the sign.  The caller limits the
 * time, because a file system or a server of the node can hold the child up.
 */
int namespace_start(pid_t pid, int (*work)(const void *arg), const void *arg, const int *fds,
		    size_t count, struct process *ret_process, struct error *err);

/* Like namespace_start(), but wait for WORK and return its result; -ETIMEDOUT after 10 s. */
int namespace_call(pid_t pid, int (*work)(const void *arg), const void *arg, const int *fds,
		   size_t count, struct error *err);
