/* Changing a node that exists. */
#pragma once

#include <jansson.h>

#include "cluster/profile.h"

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

/* The same on lists: WORDS of CHANGES taken into KEPT; what can't be read is -EINVAL. */
int node_change_labels(struct strlist *kept, const struct strlist *changes, struct error *err);
int node_change_taints(struct strlist *kept, const struct strlist *changes, struct error *err);

/* The labels and taints that the Node OBJECT has, those of others among them, as words of ours. */
void node_read_labels(const json_t *object, struct strlist *ret);
void node_read_taints(const json_t *object, struct strlist *ret);
