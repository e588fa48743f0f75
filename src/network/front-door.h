/* The front door of a cluster that runs: its process, seen from the cluster. */
#pragma once

#include "record/profile.h"

/* Start the front door unless it runs, in a place where it outlives the person's login. */
int cluster_run_front_door(const struct profile *profile, struct error *err);

/*
 * See that something listens at the API's address; costs next to nothing if it does.  With
 * reason_api_not_running: -ESRCH if the cluster does not run, -EPERM if only root could mend it.
 */
int cluster_open_front_door(const struct profile *profile, struct error *err);
