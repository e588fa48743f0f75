/*
 * Whether nodes are Ready according to the API, and if not, what is wrong with them.
 *
 * The words are node_status.readiness:
 *
 *	Ready         according to the API
 *	NotReady      according to the API, or the API has no such node, or its kubelet does not run
 *	Starting      NotReady, and the command that works on the cluster is starting nodes
 *	Paused        the whole node is frozen, so the API's information is out of date
 *	Stopped, Nonexistent   the node does not run: the word of its host
 *	Unknown       there is no API to ask, or the caller may not ask it
 */
#pragma once

#include <jansson.h>

#include "look/status.h"

/* Set readiness, pressure and why of every node of STATUS.  LIST is the API's list of nodes, NULL
 * if there is none; BUSY_WITH the command that works on the cluster ("manykube start") or NULL. */
void readiness_read(struct cluster_status *status, const json_t *list, const char *busy_with);

/* Whether the command BUSY_WITH ("manykube start", or NULL) starts nodes. */
bool readiness_is_being_brought_up(const char *busy_with);

/* Whether Kubernetes can fully use the node: it is Ready, or about to be, and its kubelet reports
 * no pressure. */
bool readiness_is_well(const struct node_status *status);
