/*
 * The location of a node's files on the host.
 *
 * nodes/NODE, a node's directory, holds the host's files about it: pid, state, views, disk.img.  No
 * node can write there.  nodes/NODE/tree, which only root can enter, has everything that the node's
 * root can write: etc, var, root, home, srv, mnt, and usr with usr-work, the upper layer of its
 * /usr. A node has only mounts of these directories, so it cannot replace any of them with a link.
 * Everything below them is under the node's control and may be accessed only with base/below.h.
 *
 * Earlier versions kept these directories in nodes/NODE itself.  A node that runs since then keeps
 * them there until it stops; its next start moves them.
 */
#pragma once

#include "base/error.h"
#include "base/strbuf.h"

/* The size of a node's file "state", which the agent maps completely. */
#define NODE_STATE_BYTES 4096

/* The most bytes that are read from a node's file "state". */
#define NODE_STATE_LIMIT 65536

/* The path of the tree of the node with the directory DIR; it may not exist.
 * The caller frees it. */
char *node_tree_path(const char *dir) must_check;

/*
 * Make the tree of the node with the directory DIR, with empty directories or, if there are any,
 * those of an earlier version.  The node must not run.  May be interrupted at any point and
 * repeated.
 */
int node_tree_make(const char *dir, struct error *err);

/* Read the state of services that the agent of the node with the directory DIR wrote last; see
 * driver/agent-state.h.  The node's root can forge it; at most NODE_STATE_LIMIT bytes are read. */
int node_tree_read_state(const char *dir, struct strbuf *ret, struct error *err);
