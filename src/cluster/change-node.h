/* Changing a node that exists. */
#pragma once

#include "record/profile.h"

/*
 * Change the node called NAME of PROFILE at once, as far as that goes, to what is set in CHANGES:
 * labels and taints, where KEY- takes one away; the disk, which never gets smaller; and the limits
 * that it is held to, with which its kubelet, started again, counts soon after; pods stay.
 * RET_NEEDS_RESTART: its disk changes when the node is started the next time, and what the kubelet
 * tells if that could not be restarted, as in a node that is paused.
 */
int cluster_change_node(struct profile *profile, const char *name,
			const struct node_settings *changes, bool *ret_needs_restart,
			struct error *err);
