/*
 * Namespaces: user namespaces that own a node, directories seen through their id mapping,
 * and running programs inside.
 *
 * A node's root is not the host's root: inside the user namespace uid 0 is a high,
 * otherwise unused uid of the host, so the kernel itself refuses whatever would reach
 * beyond the node.  Files are stored on disk as root's own and shifted by idmapped
 * mounts, so a payload can be shared by all nodes.
 */
#pragma once

#include "base/error.h"
#include "base/process.h"

/* How many uids and gids a node has: enough for pods with user namespaces of their own. */
#define NAMESPACE_IDS (128u * 65536u)

/* Ids of the host that nodes live on: far above people's, NAMESPACE_IDS for each slot of a cluster.
 * No node has slot 0; its ids are those of driver/mount-owner.h. */
#define NAMESPACE_UID_FIRST 0x10000000u

/* Make a user namespace in which 0 … NAMESPACE_IDS-1 are UID_BASE … of the host. */
int namespace_new_user(uid_t uid_base, int *ret_fd, struct error *err);

/* The same with maps of one's own, as the kernel wants them; it counts as one of UID_BASE's. */
int namespace_new_mapped_user(uid_t uid_base, const char *uid_map, const char *gid_map, int *ret_fd,
			      struct error *err);

/*
 * A detached mount of PATH (directory or file) as the user namespace USERNS_FD sees it:
 * what belongs to root on disk belongs to the node's root.  For namespace code to attach.
 */
int namespace_map_tree(const char *path, int userns_fd, bool read_only, int *ret_fd,
		       struct error *err);

/* Likewise of what is opened as FD (O_PATH will do), which errors call SHOWN. */
int namespace_map_opened(int fd, const char *shown, int userns_fd, bool read_only, int *ret_fd,
			 struct error *err);

/* Where to run a program: in all namespaces of process PID, as their root. */
struct namespace_target {
	pid_t pid;
	const char *cgroup; /* its control group, may be NULL */
	const char *leaf;   /* and the sub-group for programs run this way */
};

/*
 * Start ARGV in TARGET with its stdin, stdout and stderr as OPTIONS say (directory too); the
 * environment is OPTIONS' or a minimal one.  It always has a session and a session keyring of its
 * own; with new_session, a terminal as stdin becomes that session's.  Of our descriptors it gets
 * only what host/relay.h calls harmless, pipes instead of others; of its output, a log in OPTIONS
 * gets no more than 16 MiB.  The process returned ends with the program, with its status, once all
 * output is written; killing it kills the program.  It is confined as all programs of a node are
 * (host/confine.h).
 */
int namespace_spawn(const struct namespace_target *target, char *const *argv,
		    const struct process_options *options, struct process *ret_process,
		    struct error *err);

/* Leave our session keyring, in which the user's keys may be, for a new and empty one; -1 with
 * errno. */
int namespace_new_keyring(void);

/*
 * Do WORK in a child that has entered all namespaces of PID as their root, so it can do no more
 * than the node itself: names that it uses may lead anywhere in the node, and nowhere else.  Of our
 * descriptors it has just FDS, COUNT of them (those below 0 are skipped).  WORK returns 0 or a
 * negative errno, and so does this; -ETIMEDOUT if that takes longer than some seconds, as it may
 * where the node has a file system of its own making.
 */
int namespace_call(pid_t pid, int (*work)(const void *arg), const void *arg, const int *fds,
		   size_t count, struct error *err);
