/* What keeps a node from coming up, found out before waiting has been in vain. */
#pragma once

#include "record/profile.h"

/* -EIO with reason_control_plane, and the kubelet's own last words, if the kubelet of NODE ends
 * again and again; 0 otherwise. */
int trouble_check_node(const struct profile *profile, const struct node *node, struct error *err);

/* The same for the nodes of PROFILE of which PART (NULL: all), by their place, is true. */
int trouble_check(const struct profile *profile, const bool *part, struct error *err);

/* The last words about a failure in the kubelet's log TEXT, for the caller to free; NULL if there
 * are none. */
char *trouble_last_words(const char *text) must_check;
