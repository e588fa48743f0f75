/*
 * What the API says of nodes: whether they are Ready, and what is wrong with those that are not.
 *
 * The words are node_status.readiness:
 *
 *	Ready         the API says so
 *	NotReady      the API says so, or does not know the node, or its kubelet does not run
 *	Starting      NotReady, and the command that works on the cluster is bringing nodes up
 *	Paused        all of the node is frozen, so whatever the API says is old
 *	Stopped, Nonexistent   the node does not run: the word of its host
 *	Unknown       there is no API to ask, or the caller may not ask it
 */
#pragma once

#include <jansson.h>

#include "look/status.h"

/*
 * Set readiness, pressure and why of every node of STATUS.  LIST is the API's list of nodes, NULL
 * if it gave none; BUSY_WITH the command that works on the cluster ("manykube start") or NULL.
 */
void readiness_read(struct cluster_status *status, const json_t *list, const char *busy_with);

/* Whether the command BUSY_WITH ("manykube start", or NULL) is one that brings nodes up. */
bool readiness_is_being_brought_up(const char *busy_with);

/* Whether Kubernetes can use the node as it should: it is Ready, or on its way to be, and its
 * kubelet reports no pressure. */
bool readiness_is_well(const struct node_status *status);
