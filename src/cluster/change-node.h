/* Changing an existing node. */
#pragma once

#include "record/profile.h"

/*
 * Change the settings of the node called NAME of PROFILE that are set in CHANGES: labels, taints,
 * registries and settings of the Docker daemon, where KEY- removes one; the size of the disk, which
 * can only grow; and the limits on CPUs and memory.  New limits apply at once; the kubelet is
 * restarted to report them, and the Docker daemon if it gets other settings, while pods keep
 * running.  RET_NEEDS_RESTART: the change takes effect when the node is restarted.  This is so for
 * disks, and for limits if the kubelet could not be restarted, as in a paused node.
 */
int cluster_change_node(struct profile *profile, const char *name,
			const struct node_settings *changes, bool *ret_needs_restart,
			struct error *err);

/* Give NODE the registries and the settings of its Docker daemon that WANTED has, which is
 * restarted if it runs. */
int cluster_change_services(struct profile *profile, struct node *node,
			    const struct node_settings *wanted, struct error *err);
