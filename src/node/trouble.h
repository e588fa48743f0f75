/* Detection of nodes that will never come up, so that commands do not wait for them in vain. */
#pragma once

#include "record/profile.h"

/* -EIO with reason_control_plane, quoting the kubelet's last error, if the kubelet of NODE keeps
 * exiting; -EIO with reason_node_failed if it does because its programs are gone; 0 otherwise. */
int trouble_check_node(const struct profile *profile, const struct node *node, struct error *err);

/* The same for all nodes of PROFILE or, if PART is not NULL, those at whose index PART is true. */
int trouble_check(const struct profile *profile, const bool *part, struct error *err);

/* The last error in the kubelet's log TEXT, for the caller to free; NULL if there is none. */
char *trouble_last_words(const char *text) must_check;
