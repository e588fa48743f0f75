/* The defects of a cluster after a start: one line each, with what to do about it. */
#pragma once

#include "base/strlist.h"
#include "look/status.h"

/*
 * Append the defects of STATUS to RET, one line each.  There is at least one whenever the cluster's
 * health is neither HEALTH_OK nor HEALTH_HAPPY.  Nodes of a cluster with --cni=none that lack only
 * a network are not defects.
 */
void defects_list(const struct profile *profile, const struct cluster_status *status,
		  struct strlist *ret);

/* The remedy for the first pressure that a node reports, for the caller to free. */
char *defects_relief(const struct profile *profile, const struct node_status *status) must_check;

/*
 * Examine the cluster as `status` does.  Returns whether it is healthy, and appends its defects to
 * RET.  If something does not answer, retry until SECONDS have passed, since a busy host may only
 * be slow.
 */
bool defects_find(const struct profile *profile, unsigned seconds, struct strlist *ret);
