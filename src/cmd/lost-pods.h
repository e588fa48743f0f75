/* Pods and persistent volumes that are lost for good with their node. */
#pragma once

#include "record/profile.h"

/* Warn, for each node in NAMES, of pods and volumes that would be lost with it, or that this cannot
 * be checked; returns whether any are known to be. */
bool lost_pods_announce(const struct profile *profile, const struct strlist *names);

/* The same, and ask for confirmation if there is a terminal and YES is false; -ECANCELED if
 * refused. */
int lost_pods_confirm(const struct profile *profile, const struct strlist *names, bool yes,
		      struct error *err);
