/*
 * Where a node's files are on the host.
 *
 * nodes/NODE, a node's directory, holds what the host keeps about it: pid, state, views,
 * disk.img.  No node can write there.  nodes/NODE/tree, which only root can enter, has everything
 * that the node's root can write: etc, var, root, home, srv, mnt, and usr with usr-work, the upper
 * layer of its /usr.  The names in the tree itself are the host's: a node has no more than mounts
 * of these directories, so none of them can become a link.  Whatever lies below them is the node's:
 * only the functions of base/below.h may touch that.
 *
 * Earlier versions had these directories in nodes/NODE itself.  A node that was started by one is
 * used as it is until it has stopped; then its next start moves them.
 */
#pragma once

#include "base/error.h"
#include "base/strbuf.h"

/* How long a node's file "state" is, all of which the agent has mapped. */
#define NODE_STATE_BYTES 4096

/* How long the text is that the agent may keep in a node's file "state". */
#define NODE_STATE_LIMIT 65536

/* The tree of the node whose directory is DIR, for the caller to free; it need not exist. */
char *node_tree_path(const char *dir) must_check;

/*
 * Make the tree of the node whose directory is DIR, with empty directories, moving those of an
 * earlier version into it.  The node does not run.  May be interrupted and repeated at any point.
 */
int node_tree_make(const char *dir, struct error *err);

/* What the agent of the node whose directory is DIR last said of its services; see
 * driver/agent-state.h.  The node's root can make it say anything, but not more than
 * NODE_STATE_LIMIT. */
int node_tree_read_state(const char *dir, struct strbuf *ret, struct error *err);
