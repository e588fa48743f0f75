/* Changing a node that exists. */
#pragma once

#include "record/profile.h"

struct node_changes {
	struct strlist labels; /* KEY=VALUE, or KEY- to take it away */
	struct strlist taints; /* KEY=VALUE:EFFECT, or KEY- or KEY:EFFECT- */
	unsigned cpus;         /* 0: as it is, as are the next; may be ALL_CPUS, */
	uint64_t memory_bytes; /* and likewise */
	uint64_t disk_bytes;   /* never less than it was */
};

/*
 * Change the node called NAME of PROFILE at once, as far as that goes: labels and taints, and the
 * limits that it is held to, with which its kubelet, started again, counts soon after; pods stay.
 * RET_NEEDS_RESTART: its disk changes when the node is started the next time, and what the kubelet
 * tells if that could not be restarted, as in a node that is paused.
 */
int cluster_change_node(struct profile *profile, const char *name,
			const struct node_changes *changes, bool *ret_needs_restart,
			struct error *err);
