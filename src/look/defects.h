/* What is wrong with a cluster after a start: for each defect a line with what to do about it. */
#pragma once

#include "base/strlist.h"
#include "look/status.h"

/*
 * Add the defects of STATUS to RET, one line each.  It has some whenever the cluster's health is
 * not HEALTH_OK or HEALTH_HAPPY, except for nodes of a cluster with --cni=none that lack nothing
 * but a network: these are as the user wants them.
 */
void defects_list(const struct profile *profile, const struct cluster_status *status,
		  struct strlist *ret);

/*
 * Look at the cluster as `status` does.  Returns whether it is well, and adds what is wrong with it
 * to RET.  What does not answer is asked again until SECONDS have passed, since a busy host may
 * only be slow.
 */
bool defects_find(const struct profile *profile, unsigned seconds, struct strlist *ret);
