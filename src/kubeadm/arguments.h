/*
 * Checks that the programs of Kubernetes accept their arguments and configuration.
 *
 * The programs themselves are run with these arguments, on this host and before anything is
 * created.  They run without any rights, and exit before they do anything.
 */
#pragma once

#include "payload/payload.h"
#include "record/profile.h"

/*
 * -EINVAL with reason_usage, quoting the program, if the kubelet of NODE does not accept its
 * arguments or its configuration; if NODE is the first control plane, also for the API server, the
 * controller manager and the scheduler.  0 if they do, if the user has given no arguments, or if a
 * program cannot be run.  CHECKED collects arguments that were accepted, so that nodes with the
 * same arguments are checked once.
 */
int arguments_check(const struct profile *profile, const struct node *node,
		    const struct payload *payload, struct strlist *checked, struct error *err);
