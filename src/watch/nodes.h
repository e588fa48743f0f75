/*
 * Loading the network policies of nodes, in the event loop of the front door's keeper.
 *
 * The policies of a node are written to a file before they are loaded, so that a start of the node
 * loads them before its pods run.  Loading happens in a process of its own for each node; what
 * changes meanwhile is loaded after that.  A failure is repeated with growing delays.
 */
#pragma once

#include "base/loop.h"
#include "policy/model.h"

struct watch_nodes;

/* Make RULES the network policies of the node NAME of the cluster in DIR; NULL: it has none. Called
 * in a process of its own. */
typedef int (*watch_install_fn)(const char *dir, const char *name, const char *rules,
				struct error *err);

/* The file with the policies of the node NAME, a text for policy_model_parse(), for the caller to
 * free; and its greatest size. */
char *watch_nodes_path(const char *dir, const char *name) must_check;
#define WATCH_NODES_MOST (8u << 20)

struct watch_nodes *watch_nodes_new(struct loop *loop, const char *dir, watch_install_fn install);

/* Rules stay as they are. */
void watch_nodes_free(struct watch_nodes *nodes);

/* Load MODEL in the node NAME, unless it is loaded already. */
void watch_nodes_set(struct watch_nodes *nodes, const char *name, const struct policy_model *model);
