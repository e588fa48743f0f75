/* The pods of a node whose pod network has changed. */
#pragma once

#include "record/profile.h"

/* Have NODE, which runs, route between the pods of its bridge if that is its pod network, and not
 * otherwise; see node/node-files.c. */
int pods_set_bridge(const struct profile *profile, const struct node *node, struct error *err);

/* Rename the configurations of pod networks in NODE, which need not run, except for the file BUT,
 * NODE_CNI_OURS or NODE_CNI_FLANNEL; NULL: all. */
int pods_set_aside(const struct profile *profile, const struct node *node, const char *but,
		   struct error *err);

/*
 * Have the kubelet of NODE, which runs, make all pods anew that have a network of their own, in
 * place: they stay on the node, also those without a controller.  Waits up to SECONDS for the
 * pods; -ETIMEDOUT names those that have not come up.  With a network that is not ours, it does not
 * wait.
 */
int pods_renew(const struct profile *profile, const struct node *node, unsigned seconds,
	       struct error *err);

/* Remove the links of other pod networks from NODE, as far as the node has a program for that.
 * Otherwise they stay, unused, until the node is restarted. */
void pods_clean_node(const struct profile *profile, const struct node *node);
