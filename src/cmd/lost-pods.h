/* Pods that nothing makes again after their node was deleted. */
#pragma once

#include "record/profile.h"

/* Warn, in a line for each of the nodes called NAMES, of pods that would go for good with it;
 * returns whether there are any. */
bool lost_pods_announce(const struct profile *profile, const struct strlist *names);

/* The same, and ask whether to go on if that can be done on the terminal and YES is false:
 * -ECANCELED if not. */
int lost_pods_confirm(const struct profile *profile, const struct strlist *names, bool yes,
		      struct error *err);
