/* The nftables of network policies in nodes. */
#pragma once

#include "record/profile.h"

/* Make RULES the network policies of NODE, or remove them if RULES is NULL; -ESRCH if the node does
 * not run. */
int policy_rules_install(const struct profile *profile, const struct node *node, const char *rules,
			 struct error *err);

/* Like policy_rules_install() for the node NAME of the cluster in DIR; called by the front door's
 * keeper. */
int policy_rules_install_at(const char *dir, const char *name, const char *rules,
			    struct error *err);

/*
 * Load the network policies that NODE had when it ran last (watch/nodes.h): before its pods start.
 * Connections of pods with other addresses than then are held where any pod is isolated, until the
 * API knows more.  A failure is a warning: the node is needed to repair anything.
 */
void policy_rules_restore(const struct profile *profile, const struct node *node);
