/*
 * Whether the programs of Kubernetes understand what they would be told.
 *
 * The programs themselves are asked, with the arguments that they would have, on this host and
 * before anything is made.  They run without any rights, and end before they do anything.
 */
#pragma once

#include "payload/payload.h"
#include "record/profile.h"

/*
 * -EINVAL with reason_usage and the program's own words if the kubelet of NODE, or the API server,
 * the controller manager or the scheduler if NODE is the first control plane, does not understand
 * its arguments or its configuration.  0 if they do, if the user has given none, or if a program
 * can't be asked.  CHECKED collects what was found to be understood, so that nodes that are told
 * the same are checked once.
 */
int arguments_check(const struct profile *profile, const struct node *node,
		    const struct payload *payload, struct strlist *checked, struct error *err);
