/* Draining: moving pods to other nodes before their node is stopped or deleted. */
#pragma once

#include "base/observer.h"
#include "record/profile.h"

/* What becomes of pods without a controller: nothing makes another one when they are deleted. */
enum drain_scope {
	DRAIN_CONTROLLED, /* they stay, and start again with their node */
	DRAIN_ALL,        /* they are deleted, too: their node does not come back */
};

/*
 * Move the pods of the nodes called NAMES to other nodes within SECONDS each; DaemonSets' and
 * static pods stay.  The nodes get no new pods until they are started, nor then if they got none
 * before.
 *
 * -EBUSY if time is up, with a pod and what keeps it; reason_node_paused or reason_api_not_running
 * at once if the node or the control plane is paused.
 */
int drain_nodes(struct profile *profile, const struct strlist *names, enum drain_scope scope,
		unsigned seconds, struct observer *observer, struct error *err);

/* Let new pods onto the drained nodes among those of which PART, by their place, is true. */
int drain_undo(struct profile *profile, const bool *part, struct error *err);

/*
 * Add to RET, as "namespace/name", the pods on the node called NAME that have no controller and
 * have not ended.  RET stays as it is if the API does not answer.
 */
void drain_list_bare(const struct profile *profile, const char *name, struct strlist *ret);
