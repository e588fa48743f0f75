/* What keeps a node from coming up, found out before waiting has been in vain. */
#pragma once

#include "record/profile.h"

/* -EIO with reason_control_plane, and the kubelet's own last words, if the kubelet of NODE ends
 * again and again; 0 otherwise. */
int trouble_check_node(const struct profile *profile, const struct node *node, struct error *err);

/* The same for the nodes of PROFILE of which PART (NULL: all), by their place, is true. */
int trouble_check(const struct profile *profile, const bool *part, struct error *err);

/* How often the agent's state file TEXT says that the service NAME was started again while it is
 * not running now; 0 if it runs. */
unsigned trouble_restarts(const char *text, const char *name);

/* The last words about a failure in the kubelet's log TEXT, for the caller to free; NULL if there
 * are none. */
char *trouble_last_words(const char *text) must_check;
