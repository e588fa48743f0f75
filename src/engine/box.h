/*
 * Containers that hold the processes of nodes, their image, and their volumes.
 *
 * A box, the container CLUSTER-NODE, has a control group and a pid namespace; its first process
 * waits until it can become the node's agent (agent/enter.h).  It has no capabilities and no
 * network, because the node's other namespaces are made by the host and belong to the node's own
 * user namespace.  Its image has nothing but the agent and is named by that; its volume is the
 * node's /var on the host, so that the engine's own commands find it.
 *
 * Labels say whose they are.  A container with such a name, but not the labels, is somebody else's
 * and is left alone.
 */
#pragma once

#include "engine/engine.h"

/* Engines know no users beyond this. */
#define BOX_USER_MOST INT32_MAX

struct box {
	const char *cluster; /* its unique name on this host */
	const char *node;
	const char *profile; /* the cluster's name for users */
	const char *agent;   /* the program, on this host */
	const char *var;     /* the directory on this host that is the volume */
	uid_t user;          /* the node's root; at most BOX_USER_MOST */
};

/* The container's name; the caller frees it. */
char *box_name(const struct box *box) must_check;

/* The container; -ENOENT if it is missing, -EEXIST with a hint if it is somebody else's. */
int box_find(const struct engine *engine, const struct box *box, struct engine_container *ret,
	     struct error *err);

/* Make the image, the volume and the container, unless they exist.  A container that was made from
 * another image is replaced; the node must not run. */
int box_make(const struct engine *engine, const struct box *box, struct error *err);

/* Send the container an order that has no answer: "start", "pause". */
int box_order(const struct engine *engine, const struct box *box, const char *order,
	      struct error *err);

/* Start the container and return the pid of its first process on this host, which waits to become
 * the agent.  A container that runs already is killed first. */
int box_start(const struct engine *engine, const struct box *box, pid_t *ret_pid,
	      struct error *err);

/* Whether PID is the first process of the container and has not become the agent yet. */
bool box_waits(const struct box *box, pid_t pid);

/* Remove the container and its volume; nothing of somebody else's. */
int box_remove(const struct engine *engine, const struct box *box, struct error *err);

/* Remove all containers and volumes with the label of CLUSTER, and all images that no container
 * uses. */
int box_remove_all(const struct engine *engine, const char *cluster, struct error *err);
