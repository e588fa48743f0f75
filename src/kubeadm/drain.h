/* Draining: moving pods to other nodes before their node is stopped or deleted. */
#pragma once

#include "base/observer.h"
#include "record/profile.h"

/* The default limit for draining a node that is deleted.  It must exceed the default grace period
 * of pods, 30 s, after which pods that ignore SIGTERM are killed. */
#define DRAIN_DELETE_SECONDS 40

/* How to handle pods without a controller, which are not replaced when they are deleted. */
enum drain_scope {
	DRAIN_CONTROLLED, /* they stay, and start again with their node */
	DRAIN_ALL,        /* they are deleted, too: their node is deleted */
};

/*
 * Move the pods of the nodes called NAMES to other nodes, within SECONDS for each node; DaemonSet
 * and static pods stay.  The nodes are cordoned until they are started again, or for longer if they
 * were cordoned before.
 *
 * -EBUSY after a timeout, naming a pod and what prevents its eviction.  Fails immediately with
 * reason_node_paused or reason_api_not_running if the node or the control plane is paused.
 */
int drain_nodes(struct profile *profile, const struct strlist *names, enum drain_scope scope,
		unsigned seconds, struct observer *observer, struct error *err);

/* Uncordon those drained nodes at whose index PART is true. */
int drain_undo(struct profile *profile, const bool *part, struct error *err);

/* Append the pods on the node called NAME that have no controller and have not ended to RET, as
 * "namespace/name".  Fails, without changing RET, if the API does not answer. */
int drain_list_bare(const struct profile *profile, const char *name, struct strlist *ret);

/* Append the claims of the PersistentVolumes that can be used only on the node called NAME, such as
 * those of the default storage class, to RET, as "namespace/name"; a volume without a claim is
 * listed by its own name.  Fails like drain_list_bare(). */
int drain_list_volumes(const struct profile *profile, const char *name, struct strlist *ret);
