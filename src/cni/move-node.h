/* A node on its way from one pod network to another; see cluster/change-network.c. */
#pragma once

#include "record/profile.h"

/* If the new network of PROFILE is not ours, and so has yet to be installed: remove what configures
 * an earlier one from all nodes, whether they run or not. */
int move_node_clear_all(const struct profile *profile, struct error *err);

/*
 * Give NODE the configuration and routes of the network of PROFILE and, if it runs, make its pods
 * anew.  A node whose pods are not back within SECONDS is a warning; flannel that has not begun on
 * it by then is an error.
 */
int move_node_to_network(const struct profile *profile, const struct node *node, unsigned seconds,
			 struct error *err);
